"""Memory, process and cpu limits of a sandbox.

With a writable cgroup hierarchy (v1 or v2) memory counts all of the sandbox's processes and its files together
(`memory_mb + disk_mb`), `pids` counts its tasks and `cpus` is its share. A controller that is missing or not writable
is replaced by an rlimit set inside: `memory_mb` of address space for each process, `pids` tasks of the sandbox's user
for each shell or command. There is no rlimit for cpu share. Core dumps are off, open files are bounded, always.
"""

import atexit
import contextlib
import functools
import os
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.namespace.seccomp import FILTER_FD

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids", "cpu")
OVERHEAD_PIDS = 16
"""Processes that entering a sandbox needs beside the agent's own."""
_CPU_PERIOD_US = 100_000
_left: set[Path] = set()
atexit.register(lambda: remove_left())


class Place(NamedTuple):
    """Where groups can be made for some controllers."""

    parent: Path
    version: int
    controllers: tuple[str, ...]


@functools.lru_cache(maxsize=1)
def places() -> tuple[Place, ...]:
    """The writable hierarchies of this process; empty where there is none."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return ()
    found: list[Place] = []
    taken: set[str] = set()
    for line in lines:
        _, names, path = line.split(":", 2)
        if names:
            for name in set(names.split(",")) & set(CONTROLLERS):
                parent = _writable(ROOT / name, path)
                if parent is not None:
                    found.append(Place(parent, 1, (name,)))
                    taken.add(name)
        else:
            found += _unified(path)
    return tuple(place for place in found if place.version == 1 or not taken & set(place.controllers))


def _writable(mount: Path, path: str) -> Path | None:
    """The own group, or the mount's root where the own one is not visible."""
    for parent in (mount / path.lstrip("/"), mount):
        if parent.is_dir() and os.access(parent, os.W_OK) and os.access(parent / "cgroup.procs", os.W_OK):
            return parent
    return None


def _unified(path: str) -> list[Place]:
    own = ROOT / path.lstrip("/")
    for parent in (own, own.parent):
        if not parent.is_relative_to(ROOT) or not os.access(parent / "cgroup.procs", os.W_OK):
            continue
        control = parent / "cgroup.subtree_control"
        for name in CONTROLLERS:
            with contextlib.suppress(OSError):
                control.write_text(f"+{name}")
        with contextlib.suppress(OSError):
            enabled = tuple(name for name in CONTROLLERS if name in control.read_text().split())
            if enabled:
                return [Place(parent, 2, enabled)]
    return []


class Limiter:
    """The groups of one sandbox, and the rlimits in place of those that cannot be had."""

    def __init__(self, name: str, *, spec: SandboxSpec) -> None:
        self._spec = spec
        self.groups: list[Path] = []
        """Directories of this sandbox's groups."""
        self._missing = set(CONTROLLERS)
        for place in places():
            group = place.parent / f"claw-envs-{name}"
            try:
                group.mkdir()
                self.groups.append(group)
                for controller in place.controllers:
                    self._limit(group, place.version, controller)
            except OSError:
                continue
            self._missing -= set(place.controllers)

    def _limit(self, group: Path, version: int, controller: str) -> None:
        spec = self._spec
        quota = str(int(spec.cpus * _CPU_PERIOD_US))
        memory = str((spec.memory_mb + spec.disk_mb) << 20)
        files = {
            ("memory", 1): [("memory.limit_in_bytes", memory), ("memory.memsw.limit_in_bytes", memory)],
            ("memory", 2): [("memory.max", memory), ("memory.swap.max", "0"), ("memory.oom.group", "0")],
            ("pids", 1): [("pids.max", str(spec.pids + OVERHEAD_PIDS))],
            ("pids", 2): [("pids.max", str(spec.pids + OVERHEAD_PIDS))],
            ("cpu", 1): [("cpu.cfs_quota_us", quota)],
            ("cpu", 2): [("cpu.max", f"{quota} {_CPU_PERIOD_US}")],
        }[controller, version]
        (group / files[0][0]).write_text(files[0][1])
        for name, value in files[1:]:
            with contextlib.suppress(OSError):  # swap accounting is optional in the kernel
                (group / name).write_text(value)

    def enter(self, command: list[str], *, opened: Path | None) -> list[str]:
        """`command`, started inside the groups and without core dumps.

        Args:
            opened: a file that the command gets as descriptor `FILTER_FD`.
        """
        script = (
            f'ulimit -c 0; ulimit -n 4096; [ -z "$1" ] || exec {FILTER_FD}<"$1" || exit 125; shift; '
            'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; '
            'shift; exec "$@"'
        )
        groups = [str(group / "cgroup.procs") for group in self.groups]
        return ["/bin/sh", "-c", script, "sh", str(opened or ""), *groups, "--", *command]

    def inside(self, argv: list[str]) -> list[str]:
        """`argv`, run inside the sandbox under the rlimits that stand in for missing groups."""
        limits = []
        if "memory" in self._missing:
            limits.append(f"ulimit -v {self._spec.memory_mb << 10}")
        if "pids" in self._missing:
            limits.append(f"ulimit -u {self._spec.pids}")
        if not limits:
            return argv
        return ["/bin/bash", "-c", "; ".join([*limits, 'exec "$@"']), "bash", *argv]

    def close(self) -> None:
        """Remove the groups. The kernel keeps one busy for a moment after its last process: see `remove_left`."""
        _left.update(self.groups)
        remove_left()


def remove_left() -> bool:
    """Remove what closed sandboxes of this process left; whether nothing is left. Each `close` calls it."""
    for group in list(_left):
        with contextlib.suppress(OSError):
            group.rmdir()
        if not group.exists():
            _left.discard(group)
    return not _left


def all_groups() -> list[Path]:
    """Groups of all sandboxes, of whichever owner, where this process makes its own."""
    return [group for place in places() for group in place.parent.glob("claw-envs-*")]
