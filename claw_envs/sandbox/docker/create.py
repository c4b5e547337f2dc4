"""Make, start and find a hardened container for a sandbox.

No host directory, no capability but those that the image's root needs for ordinary work, no new privileges, the
engine's own system call filter, no network unless the spec grants it; memory, tasks and cpu are limited, as are open
files and core dumps. The first process does nothing but collect what its children leave.
"""

import atexit
import contextlib
import os
import secrets
import time
from pathlib import Path
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.docker.container import ROOT, Container
from claw_envs.sandbox.docker.engine import Engine
from claw_envs.sandbox.docker.labels import labels

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETUID", "SETGID", "KILL")
OVERHEAD_PIDS = 16
"""Tasks that the engine and we need beside the agent's own, above all while a command is started."""
_LOOP = "exec 3<> <(:); while :; do read -r -u 3; done"
_GUARD = (
    'setpriv --ruid=65534 true 2>/dev/null && exec setpriv --ruid=65534 /bin/bash --norc --noprofile -p -c "$0"; '
    'exec /bin/bash --norc --noprofile -c "$0"'
)
_FIRST = ["/bin/bash", "--norc", "--noprofile", "-c", _GUARD, _LOOP]
"""Waits for ever; bash collects whatever process ends as its child. With a real user id other than the effective one it
cannot be traced, nor its memory written, by an agent that is root too: it alone survives when the agent is stopped."""
_SETTLE_TIMEOUT = 10.0
_SETTLE_INTERVAL = 0.005
_held: dict[str, Engine] = {}
"""Containers of this process by name."""
_left: list[Container] = []
"""Those of them that could not be removed when they should."""


async def create(engine: Engine, image: str, spec: SandboxSpec) -> Container:
    """Start a container; `discard` removes it.

    Args:
        image: id of an image that the engine has.

    Raises:
        UserError: if the image has no bash.
        InfrastructureError: if it cannot be started.
    """
    await _discard_left(engine)
    name = f"claw-envs-{secrets.token_hex(8)}"
    _held[name] = engine
    container = Container(engine, name, host_pid=None)
    try:
        await engine.call(
            engine.api.create_container,
            image,
            entrypoint=_FIRST,
            command=[],
            name=name,
            hostname="sandbox",
            user=ROOT,
            working_dir="/",
            labels=labels(),
            stop_signal="SIGKILL",
            healthcheck={"test": ["NONE"]},
            host_config=_host_config(engine, spec),
        )
        try:
            await engine.call(engine.api.start, name)
        except InfrastructureError as error:
            if '"/bin/bash"' in str(error):
                raise UserError(
                    f"image {spec.image or spec.build}: no bash in it, which the agent's shell needs"
                ) from error
            raise
        found = await engine.call(engine.api.inspect_container, name)
        pid = _host_pid(found["Id"], found["State"]["Pid"])
        if pid is not None and await engine.call(_settles, pid):
            container.host_pid = pid
        return container
    except BaseException:
        await discard(container)
        raise


def _settles(pid: int) -> bool:
    """Wait until a container's first process is the one that stays, which the engine does not tell; whether it is."""
    end = time.monotonic() + _SETTLE_TIMEOUT
    with contextlib.suppress(OSError):  # the container has ended
        while time.monotonic() < end:  # a runtime may hide its processes
            if _is_loop(Path(f"/proc/{pid}/cmdline").read_bytes()):
                return True
            time.sleep(_SETTLE_INTERVAL)
    return False


def _is_loop(command: bytes) -> bool:
    return command.startswith(_FIRST[0].encode() + b"\0") and _GUARD.encode() not in command


async def discard(container: Container) -> None:
    """Remove a container, with whatever is left of it; later, where its engine does not answer. May be called again."""
    try:
        await container.remove()
    except InfrastructureError:
        _left.append(container)
    else:
        _held.pop(container.id, None)


async def _discard_left(engine: Engine) -> None:
    for container in [container for container in _left if container.engine is engine]:
        _left.remove(container)
        await discard(container)


def swaps_root(engine: Engine) -> bool:
    """Whether this process may be able to swap the root of the engine's containers."""
    return os.geteuid() == 0 and engine.url.startswith("unix://")


def _host_config(engine: Engine, spec: SandboxSpec) -> dict[str, Any]:
    # what is written lies in a file system of memory where the root is swapped, and counts as the container's
    memory = (spec.memory_mb + (spec.disk_mb if swaps_root(engine) else 0)) << 20
    config: dict[str, Any] = engine.api.create_host_config(
        network_mode="bridge" if spec.network == "full" else "none",
        cap_drop=["ALL"],
        cap_add=list(CAPABILITIES),
        security_opt=["no-new-privileges"],
        ipc_mode="private",
        pids_limit=spec.pids + OVERHEAD_PIDS,
        mem_limit=memory,
        memswap_limit=memory,
        nano_cpus=int(spec.cpus * 1e9),
        log_config={"type": "none"},
        ulimits=[{"name": "core", "soft": 0, "hard": 0}, {"name": "nofile", "soft": 4096, "hard": 4096}],
    )
    return config


def _host_pid(container_id: str, pid: int) -> int | None:
    """`pid` where this process is root on the engine's host, and the container has no user namespace of its own."""
    if os.geteuid() != 0:
        return None
    try:
        groups = Path(f"/proc/{pid}/cgroup").read_text()
        ours, theirs = (os.stat(f"/proc/{process}/ns/user").st_ino for process in ("self", str(pid)))
    except OSError:
        return None
    return pid if container_id in groups and ours == theirs else None


def _remove_held(owner: int) -> None:
    if os.getpid() != owner:
        return
    for name, engine in _held.items():
        try:
            engine.explained(engine.api.remove_container, name, force=True, v=True)
        except InfrastructureError:  # removed before, or its engine is gone: the next sweep finds it
            continue


atexit.register(_remove_held, os.getpid())
