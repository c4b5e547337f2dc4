"""Remove what dead owners left on this host: processes, control groups, directories. Mounts die with the processes.

An owner is alive while a process of its pid and start time exists; what a live owner has is only touched on request,
and only once it has expired. A directory whose name tells no owner is removed once it is older than its TTL. Only the
state of the same user is looked at.
"""

import contextlib
import functools
import os
import re
import select
import shutil
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import msgspec

from claw_envs.sandbox.namespace.cgroup import all_groups
from claw_envs.sandbox.namespace.host import state_root
from claw_envs.sandbox.namespace.state import TTL, Label
from claw_envs.sandbox.process.child import send_signal, start_time

_DEATH_TIMEOUT = 5.0
_sweeping = threading.Lock()


def sweep_once() -> None:
    """`sweep`, the first time that this process asks; from any thread, all of which wait for it."""
    with _sweeping:
        _sweep_first()


@functools.lru_cache(maxsize=1)
def _sweep_first() -> None:
    sweep()


def sweep(*, expired: bool = False) -> list[str]:
    """Remove what dead owners left.

    Args:
        expired: also sandboxes of live owners that have expired (see `state`).

    Returns:
        Names of the sandboxes that were removed.
    """
    removed = []
    for owner in _owners():
        alive = _alive(owner)
        for sandbox in sorted(owner.glob("s[0-9]*")):
            if not alive or (expired and _expired(sandbox)):
                _remove_labelled(sandbox)
                shutil.rmtree(sandbox, ignore_errors=True)
                removed.append(f"{owner.name}-{sandbox.name}")
        if not alive:
            shutil.rmtree(owner, ignore_errors=True)
    for group in all_groups():
        if not _alive(group):
            _remove_group(group)
    return removed


class Listed(NamedTuple):
    """A sandbox that runs, or is to be removed."""

    name: str
    owner: int
    """Host pid."""
    age: float
    """Seconds since its start."""
    processes: int
    """Inside it, the holder counted."""
    state: str
    """`runs`, `dead` (its owner is) or `expired`."""


def listed() -> list[Listed]:
    """The sandboxes of this user that run or that `sweep(expired=True)` removes, whoever owns them."""
    inside = Counter(filter(None, (_pid_namespace(name) for name in os.listdir("/proc") if name.isdigit())))
    found = []
    for owner in _owners():
        alive, pid = _alive(owner), owner.name.partition("-")[0]
        for sandbox in sorted(owner.glob("s[0-9]*")):
            label = _label(sandbox)
            holder = label.holder_pid if label and start_time(label.holder_pid) == label.holder_start else None
            state = "dead" if not alive else "expired" if _expired(sandbox) else "runs"
            if holder is None and state == "runs":  # it starts or ends just now
                continue
            processes = 0 if holder is None else inside[_pid_namespace(str(holder))]
            with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                age = time.time() - sandbox.stat().st_mtime
                name = f"{owner.name}-{sandbox.name}"
                found.append(Listed(name, int(pid) if pid.isdigit() else 0, age, processes, state))
    return found


def _owners() -> list[Path]:
    return [owner for owner in sorted(state_root().iterdir()) if owner.is_dir()]


def _pid_namespace(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:  # it has gone, or is somebody else's
        return ""


def _expired(sandbox: Path) -> bool:
    with contextlib.suppress(OSError):
        return (sandbox / "label.json").stat().st_mtime + TTL < time.time()
    return False


def _alive(entry: Path) -> bool:
    match = re.match(r"(\d+)-(\d+)(-|$)", entry.name.removeprefix("claw-envs-"))
    if match is None:
        with contextlib.suppress(FileNotFoundError):  # swept by somebody else meanwhile
            return entry.stat().st_mtime + TTL > time.time()
        return False
    return start_time(int(match[1])) == int(match[2])


def _label(sandbox: Path) -> Label | None:
    try:
        return msgspec.json.decode((sandbox / "label.json").read_bytes(), type=Label)
    except (OSError, msgspec.DecodeError):
        return None


def _remove_labelled(sandbox: Path) -> None:
    label = _label(sandbox)
    if label is None:
        return
    if label.holder_pid > 0 and start_time(label.holder_pid) == label.holder_start:
        _kill([label.holder_pid])
    for group in map(Path, label.groups):
        if group.name.startswith("claw-envs-"):
            _remove_group(group)


def _remove_group(group: Path) -> None:
    with contextlib.suppress(OSError):
        _kill(list(map(int, (group / "cgroup.procs").read_text().split())))
        group.rmdir()


def _kill(pids: list[int]) -> None:
    """Kill and wait until they have gone."""
    for pid in pids:
        with contextlib.suppress(OSError):
            fd = os.pidfd_open(pid)
            try:
                send_signal(pid, signal.SIGKILL)
                select.select([fd], [], [], _DEATH_TIMEOUT)
            finally:
                os.close(fd)
