"""The sandbox's file system, as shell for the holder: layers, and how an episode's layer is dropped.

Layers, lowest first: the base (the host's skeleton or a root file system, shared, read-only); the spec's own layers,
shared and read-only too; the seed, only where the task has files or set-up commands (frozen once `start` is done); the
episode's upper directory. Seed and upper lie on a
tmpfs each, whose size is the disk limit; their pages count against the sandbox's memory too. Dropping a tmpfs drops its
files, so a reset deletes nothing one by one. All mounts live in the holder's namespace: the host has nothing to clean.

Not covered: on kernels before 6.6 a tmpfs has no user xattrs, so that a directory that was removed and made again
shows the lower one's files once more.
"""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.sandbox.namespace.host import AGENT_UID

_INODES_PER_MB = 256
_VERIFIER_MB = 128
_ROOTFS_DIRECTORIES = ("dev", "proc", "home/agent")
"""Where something is mounted, or lived in, whatever the root file system has."""


class Bound(NamedTuple):
    """A directory of the host's and where the holder is to see it."""

    source: Path
    point: Path
    mapped: bool
    """Whether owners on disk are already those of the sandbox."""


class Layers:
    """Paths and mount commands of one sandbox.

    Args:
        state: the sandbox's state directory on the host.
        base: the lowest layer.
        whole: whether the base is somebody's root file system, and not the host's skeleton.
        mapped: whether the base's owners on disk are already those of the sandbox; a layer's always are.
        layers: the spec's, each a tree from `/`, the last one topmost.
        workdir: made in the episode's layer, owned by the agent.
        disk_mb: MiB that the seed, and each episode, may write.
        agent_owns: whether the agent has an id of its own in the holder.

    Raises:
        UserError: if the working directory leads through a link of the base or of a layer.
    """

    def __init__(
        self,
        state: Path,
        *,
        base: Path,
        whole: bool,
        mapped: bool,
        layers: Sequence[Path],
        workdir: str,
        disk_mb: int,
        agent_owns: bool,
    ) -> None:
        self.whole = whole
        self._disk_mb = disk_mb
        self._owner = f"-o {AGENT_UID} -g {AGENT_UID}" if agent_owns else ""
        self._made = _with_parents([*(_ROOTFS_DIRECTORIES if whole else ()), workdir.lstrip("/")])
        for name in self._made:
            if any(os.path.islink(layer / name) for layer in (base, *layers)):
                raise UserError(f"working directory {workdir}: /{name} is a link there, name the place it leads to")
        self.can_bind_resolver = not os.path.islink(base / "etc/resolv.conf")
        """Whether the host's `/etc/resolv.conf` may be bound over the root's."""
        self.root, self._seed, self._upper = (state / name for name in ("root", "seed", "upper"))
        self.base = state / "base" if whole and agent_owns else base
        """The lowest layer as the holder sees it."""
        self.bound = [Bound(base, self.base, mapped)] if whole and agent_owns else []
        """What the owner of all must bind before `mount`: the holder, who is nobody in particular, could not reach
        it."""
        if agent_owns:
            bound = [Bound(layer, state / f"layer{number}", mapped=True) for number, layer in enumerate(layers)]
            self.bound += bound
            layers = [layer.point for layer in bound]
        self._lower = [*reversed(layers), self.base]

    @property
    def written(self) -> Path:
        """Directory, for the holder, with what the episode has written, as a layer."""
        return self._upper / "files"

    @property
    def shm(self) -> Path:
        """Directory for `/dev/shm`, on the episode's tmpfs."""
        return self._upper / "shm"

    def directories(self) -> list[Path]:
        """Mount points, to be made on the host beforehand."""
        return [self.root, self._seed, self._upper, *(bound.point for bound in self.bound)]

    def mount(self) -> str:
        """Shell that mounts the sandbox's /proc over the host's, and the first layer."""
        return "mount -n -t proc -o nosuid,nodev,noexec proc /proc && " + self._layer()

    def freeze(self) -> str:
        """Shell that makes what was written so far the seed and puts an episode's layer over it."""
        self._lower.insert(0, self._seed / "files")
        seed, upper, root = map(_quote, (self._seed, self._upper, self.root))
        return f"umount -n -l {root} && mount -n --move {upper} {seed} && " + self._layer()

    def reset(self) -> str:
        """Shell that drops the episode's layer and puts an empty one there."""
        return f"umount -n -l {_quote(self.root)} {_quote(self._upper)} && " + self._layer()

    def grow(self) -> str:
        """Shell that gives the verifier room on a disk that the agent has filled."""
        # without `ignore` mount adds the options in force, owners among them, which the namespace cannot parse
        options = f"remount,{_size(self._disk_mb + _VERIFIER_MB)},nosuid,nodev"
        return f"mount -n --options-mode ignore -o {options} {_quote(self._upper)}"

    def _layer(self) -> str:
        files, work = self.written, self._upper / "work"
        made = " ".join(_quote(path) for path in [files, work, self.shm, *(files / name for name in self._made)])
        lowers = ":".join(str(path).replace(":", "\\:") for path in self._lower)
        options = f"userxattr,lowerdir={lowers},upperdir={files},workdir={work}"
        limits = f"{_size(self._disk_mb)},mode=0755,nosuid,nodev"
        return (
            f"mount -n -t tmpfs -o {limits} tmpfs {_quote(self._upper)} && install -d {self._owner} {made} && "
            f"mount -n -t overlay -o {shlex.quote(options)} overlay {_quote(self.root)}"
        )


def _size(megabytes: int) -> str:
    return f"size={megabytes}m,nr_inodes={megabytes * _INODES_PER_MB}"


def _quote(path: Path) -> str:
    return shlex.quote(str(path))


def _with_parents(names: list[str]) -> list[str]:
    found: dict[str, None] = {}
    for name in names:
        path = PurePosixPath(name)
        found |= dict.fromkeys(str(parent) for parent in [*reversed(path.parents), path] if parent.parts)
    return list(found)
