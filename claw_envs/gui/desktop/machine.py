"""The sandbox that a desktop runs in: what it is made of, and what it lacks."""

import shutil
from pathlib import Path

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.gui.desktop.client import PLACE, PROGRAM

IMAGE = "claw-envs/desktop:bookworm"
HOME = "/home/agent"
_PACKAGES = {
    "Xvfb": "xvfb",
    "openbox": "openbox",
    "dbus-daemon": "dbus",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
    "/usr/lib/python3/dist-packages/Xlib": "python3-xlib",
    "/usr/lib/python3/dist-packages/gi": "python3-gi",
    "/usr/lib/python3/dist-packages/PIL": "python3-pil",
}
"""What the host's own desktop needs -> the package that has it."""


def spec_of(backend: str, given: SandboxSpec | None) -> SandboxSpec:
    """The sandbox of a desktop, with what a task asks for on top.

    Args:
        given: a task's; its files, set-up and environment are kept, and its limits where they are above ours.

    Raises:
        UserError: if the host lacks a program that the desktop needs.
    """
    given = given or SandboxSpec()
    image = given.image
    if image is None and given.build is None and given.rootfs is None:
        if backend == "docker":
            image = IMAGE
        else:
            check_host()
    return SandboxSpec(
        image=image,
        build=given.build,
        rootfs=given.rootfs,
        workdir=HOME,
        files={f"{PLACE}/claw_envs/gui/desktop/inside": str(PROGRAM), **given.files},
        setup=given.setup,
        env=given.env,
        network=given.network,
        memory_mb=max(2048, given.memory_mb),
        pids=max(512, given.pids),
        cpus=max(2.0, given.cpus),
        disk_mb=max(1024, given.disk_mb),
    )


def check_host() -> None:
    """Raise `UserError` where this host lacks what a desktop needs."""
    missing = [package for name, package in _PACKAGES.items() if not _is_there(name)]
    if missing:
        raise UserError(
            f"the desktop needs programs that this machine lacks: apt-get install {' '.join(missing)}, "
            "or use sandbox='docker'"
        )


def _is_there(name: str) -> bool:
    return Path(name).exists() if name.startswith("/") else shutil.which(name, path="/usr/bin:/bin") is not None
