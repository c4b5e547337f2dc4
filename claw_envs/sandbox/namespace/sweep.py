"""Remove what dead owners left on this host: processes, control groups, directories. Mounts die with the processes.

An owner is alive while a process of its pid and start time exists; what a live owner has is never touched. A directory
whose name tells no owner is removed once it is older than its TTL. Only the state of the same user is looked at.
"""

import contextlib
import functools
import os
import re
import select
import shutil
import signal
import time
from pathlib import Path

import msgspec

from claw_envs.sandbox.namespace.cgroup import all_groups
from claw_envs.sandbox.namespace.host import state_root
from claw_envs.sandbox.namespace.state import TTL, Label
from claw_envs.sandbox.process.child import send_signal, start_time

_DEATH_TIMEOUT = 5.0


@functools.lru_cache(maxsize=1)
def sweep_once() -> None:
    """`sweep`, the first time that this process asks."""
    sweep()


def sweep() -> list[str]:
    """Remove what dead owners left; names of the sandboxes that were removed."""
    removed = []
    for owner in sorted(state_root().iterdir()):
        if not owner.is_dir() or _alive(owner):
            continue
        for sandbox in sorted(owner.glob("s*")):
            _remove_labelled(sandbox)
            removed.append(f"{owner.name}-{sandbox.name}")
        shutil.rmtree(owner, ignore_errors=True)
    for group in all_groups():
        if not _alive(group):
            _remove_group(group)
    return removed


def _alive(entry: Path) -> bool:
    match = re.match(r"(\d+)-(\d+)(-|$)", entry.name.removeprefix("claw-envs-"))
    if match is None:
        with contextlib.suppress(FileNotFoundError):  # swept by somebody else meanwhile
            return entry.stat().st_mtime + TTL > time.time()
        return False
    return start_time(int(match[1])) == int(match[2])


def _remove_labelled(sandbox: Path) -> None:
    try:
        label = msgspec.json.decode((sandbox / "label.json").read_bytes(), type=Label)
    except (OSError, msgspec.DecodeError):
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
