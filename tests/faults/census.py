"""What this process has on the machine: processes, mounts, control groups, containers, state directories, descriptors.

What somebody else does here at the same time is not counted: everything is ours by descent or by our label.
"""

import gc
import os
import socket
from pathlib import Path
from typing import NamedTuple

from claw_envs.sandbox.namespace.cgroup import all_groups, remove_left
from claw_envs.sandbox.namespace.host import state_root
from claw_envs.sandbox.process.child import descendants, start_time


class Census(NamedTuple):
    """One count. Everything is named, so that a difference says what was left."""

    processes: frozenset[str]
    mounts: frozenset[str]
    groups: frozenset[str]
    states: frozenset[str]
    containers: frozenset[str]
    descriptors: tuple[str, ...]

    def left(self, before: "Census") -> dict[str, object]:
        """What is there now and was not `before`."""
        new = {
            name: sorted(now - then)
            for name, now, then in zip(self._fields[:-1], self[:-1], before[:-1], strict=True)
            if now - then
        }
        more = len(self.descriptors) > len(before.descriptors)
        return new | ({"descriptors": self.descriptors} if more else {})


def take() -> Census:
    """Count now; what is dying already is waited for, and what only exceptions of the past hold is let go."""
    gc.collect()
    while not remove_left():
        pass
    return Census(
        processes=frozenset(filter(None, map(_describe, _processes()))),
        mounts=frozenset(line for line in Path("/proc/self/mounts").read_text().splitlines() if _label() in line),
        groups=frozenset(str(group) for group in all_groups() if _label() in group.name),
        states=frozenset(map(str, state_root().glob(f"{os.getpid()}-*/s[0-9]*"))),
        containers=containers(),
        descriptors=descriptors(),
    )


def _label() -> str:
    return f"{os.getpid()}-{start_time(os.getpid())}"


def containers() -> frozenset[str]:
    """Containers of this process, stopped ones too; empty where there is no engine."""
    try:
        import docker

        client = docker.from_env(timeout=20)
    except (ImportError, docker.errors.DockerException):
        return frozenset()
    try:
        found = client.containers.list(all=True, filters={"label": "claw-envs.owner"}, ignore_removed=True)
        mine = f":{_label()}"
        return frozenset(
            f"{each.name} {each.status}" for each in found if each.labels["claw-envs.owner"].endswith(mine)
        )
    finally:
        client.close()


def _processes() -> set[int]:
    found = set(descendants(os.getpid()))
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if f"claw-envs-{_label()}-" in Path(f"/proc/{name}/cgroup").read_text():
                found.add(int(name))
        except OSError:
            continue
    return found


def _describe(pid: int) -> str | None:
    """Its command line; None once it is dead."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    return f"{pid} {command}" if start_time(pid) is not None else None


def descriptors() -> tuple[str, ...]:
    """Open descriptors, without the connections to a container engine, which its SDK keeps for later calls."""
    found = []
    for name in sorted(os.listdir("/proc/self/fd"), key=int):
        try:
            link = os.readlink(f"/proc/self/fd/{name}")
        except OSError:  # the one that lists them
            continue
        if not (link.startswith("socket:") and _leads_to_an_engine(int(name))):
            found.append(f"{name} {link}")
    return tuple(found)


def _leads_to_an_engine(fd: int) -> bool:
    with socket.socket(fileno=os.dup(fd)) as end:
        try:
            return str(end.getpeername()).endswith(".sock")
        except OSError:
            return False
