"""Labels: what a sandbox leaves on the host, under its owner's name, so that a sweep can find it.

`<state root>/<pid>-<start time>/` belongs to one owner process: `base/` and `filter` (the root and the system call
filter that its sandboxes share) and a directory for each sandbox, with `label.json` (its holder and control groups) and
empty mount points. A label's time of change is when the sandbox last began an episode; one that began none for `TTL`
has expired, though its owner may live.
"""

import atexit
import contextlib
import errno
import itertools
import os
import shutil
from pathlib import Path

import msgspec

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.namespace.base_root import build_base
from claw_envs.sandbox.namespace.host import Identity, state_root
from claw_envs.sandbox.namespace.seccomp import bpf_filter
from claw_envs.sandbox.process.child import start_time

TTL = 24 * 3600.0
"""Seconds after which a sandbox has expired, and what has no readable owner is removed."""
_numbers = itertools.count()


class Label(msgspec.Struct, kw_only=True):
    """Content of `label.json`."""

    holder_pid: int
    holder_start: int
    groups: list[str]
    """Its control groups, which may lie where another process makes none."""


def _remove_owner(owner: Path, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(owner, ignore_errors=True)


class State:
    """The state directory of one sandbox. Use `State.create`."""

    def __init__(self, path: Path, identity: Identity) -> None:
        self.path = path
        self._identity = identity

    @classmethod
    def create(cls, identity: Identity) -> "State":
        """Make the directory.

        Raises:
            OSError: if it cannot be made.
        """
        pid = os.getpid()
        started = start_time(pid)
        if started is None:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))  # what else keeps us from reading our own
        owner = state_root() / f"{pid}-{started}"
        if not owner.is_dir():
            owner.mkdir(mode=0o711)
            atexit.register(_remove_owner, owner, pid)
        state = cls(owner / f"s{next(_numbers)}", identity)
        state.path.mkdir(mode=0o711)
        return state

    @property
    def name(self) -> str:
        """Unique among the sandboxes of this host."""
        return f"{self.path.parent.name}-{self.path.name}"

    def base(self) -> Path:
        """The root that this owner's sandboxes share, made when first asked for."""
        base = self.path.parent / "base"
        if not base.is_dir():
            building = self.path.parent / f"base-{self.path.name}"
            build_base(building, identity=self._identity)
            with contextlib.suppress(OSError):  # another thread was faster
                building.rename(base)
        return base

    def filter(self) -> Path | None:
        """File with the system call filter, shared too; None on a machine that has none."""
        path = self.path.parent / "filter"
        content = bpf_filter()
        if content is not None and not path.exists():
            fresh = self.path / "filter"
            fresh.write_bytes(content)
            fresh.rename(path)
        return path if content is not None else None

    def label(self, *, holder: int, groups: list[Path]) -> None:
        """Write the label, once the holder runs."""
        label = Label(holder_pid=holder, holder_start=start_time(holder) or 0, groups=list(map(str, groups)))
        (self.path / "label.json").write_bytes(msgspec.json.encode(label))

    def renew(self) -> None:
        """Begin a new episode.

        Raises:
            InfrastructureError: if somebody has removed the directory, as what tidies up temporary ones may.
        """
        try:
            os.utime(self.path / "label.json")
        except OSError as error:
            raise InfrastructureError(f"the sandbox has lost its directory: {error}") from error

    def remove(self) -> bool:
        """Remove the directory; whether it is gone."""
        shutil.rmtree(self.path, ignore_errors=True)
        return not self.path.exists()
