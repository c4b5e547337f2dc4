"""The sandbox's file system, as shell for the holder: layers, and how an episode's layer is dropped.

Layers, lowest first: the base (the host's skeleton or a root file system, shared, read-only), the seed (files and
set-up of the task, frozen once `start` is done), and the episode's upper directory. Seed and upper lie on a tmpfs each, whose
size is the disk limit: pages count against the sandbox's memory too. Dropping a tmpfs drops its files, so a reset
deletes nothing one by one. All mounts live in the holder's namespace only: nothing to clean up on the host.

Not covered: on kernels before 6.6 a tmpfs has no user xattrs, so that a directory that was removed and made again
shows the lower one's files once more.
"""

import shlex
from pathlib import Path

from claw_envs.sandbox.host import AGENT_UID


class Layers:
    """Paths and mount commands of one sandbox.

    Args:
        state: the sandbox's state directory on the host.
        base: the lowest layer.
        disk_mb: MiB that the seed, and each episode, may write.
        agent_owns: whether the agent has an id of its own in the holder.
    """

    def __init__(self, state: Path, *, base: Path, disk_mb: int, agent_owns: bool) -> None:
        self._base = base
        self._options = f"size={disk_mb}m,mode=0755,nosuid,nodev"
        self._agent_owns = agent_owns
        self.root, self._seed, self._upper = (state / name for name in ("root", "seed", "upper"))

    @property
    def shm(self) -> Path:
        """Directory for `/dev/shm`, on the episode's tmpfs."""
        return self._upper / "shm"

    def directories(self) -> list[Path]:
        """Mount points, to be made on the host beforehand."""
        return [self.root, self._seed, self._upper]

    def mount(self) -> str:
        """Shell that mounts the sandbox's /proc over the host's and the first layer, which becomes the seed."""
        return "mount -n -t proc -o nosuid,nodev,noexec proc /proc && " + self._layer([])

    def freeze(self) -> str:
        """Shell that makes what was written so far the seed and puts an episode's layer over it."""
        move = f"umount -n -l {self._q(self.root)} && mount -n --move {self._q(self._upper)} {self._q(self._seed)} && "
        return move + self._layer([self._seed / "files"])

    def reset(self) -> str:
        """Shell that drops the episode's layer and puts an empty one there."""
        drop = f"umount -n -l {self._q(self.root)} {self._q(self._upper)} && "
        return drop + self._layer([self._seed / "files"])

    def _layer(self, lower: list[Path]) -> str:
        tmpfs = self._upper
        files, work, shm = (self._q(tmpfs / name) for name in ("files", "work", "shm"))
        lowers = ":".join(str(path).replace(":", "\\:") for path in [*lower, self._base])
        options = f"userxattr,lowerdir={lowers},upperdir={tmpfs / 'files'},workdir={tmpfs / 'work'}"
        steps = [
            f"mount -n -t tmpfs -o {self._options} tmpfs {self._q(tmpfs)}",
            f"mkdir -m 0755 {files} {work} && mkdir -m 1777 {shm}",
            *([f"chown {AGENT_UID}:{AGENT_UID} {files}"] if self._agent_owns else []),
            f"mount -n -t overlay -o {shlex.quote(options)} overlay {self._q(self.root)}",
        ]
        return " && ".join(steps)

    @staticmethod
    def _q(path: Path) -> str:
        return shlex.quote(str(path))
