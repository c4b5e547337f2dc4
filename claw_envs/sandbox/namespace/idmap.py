"""Bind a root file system with its owners shifted, so that what belongs to root there is the agent's in a sandbox.

Run as a script, by root, in the holder's mount namespace (`python -I -S idmap.py SOURCE TARGET FIRST_ID AGENT_ID`):
ids from 0 on become those from FIRST_ID on, except that 0 and AGENT_ID change places. The agent then writes wherever an
image expects root to write, in its own layer; nothing on disk changes. Standard library only.

Not covered: file systems without id-mapped mounts (NFS, some FUSE), and kernels before 5.19.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_MOUNT_SETATTR = 428, 429, 442
_AT_FDCWD, _AT_EMPTY_PATH = -100, 0x1000
_OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH = 1, 4
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_IDMAP = 1, 0x100000
_CLONE_NEWUSER = 0x10000000
_IDS = 65536


def id_map(first: int, agent: int) -> str:
    """Content of a `uid_map` that shifts by `first` and swaps 0 and `agent`.

    >>> print(id_map(100000, 1000))
    0 101000 1
    1 100001 999
    1000 100000 1
    1001 101001 64535
    """
    ranges = [(0, first + agent, 1), (1, first + 1, agent - 1), (agent, first, 1)]
    ranges.append((agent + 1, first + agent + 1, _IDS - agent - 1))
    return "\n".join(" ".join(map(str, values)) for values in ranges)


def bind(source: str, target: str, *, first: int, agent: int) -> None:
    """Bind `source` at `target`, read-only and shifted.

    Raises:
        OSError: if the kernel or the file system cannot.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def call(number: int, *arguments: object) -> int:
        result = int(libc.syscall(number, *arguments))
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result

    tree = call(_SYS_OPEN_TREE, _AT_FDCWD, os.fsencode(source), _OPEN_TREE_CLONE | os.O_CLOEXEC)
    attributes = (ctypes.c_uint64 * 4)(
        _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_IDMAP, 0, 0, _user_namespace(libc, first, agent)
    )
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    call(_SYS_MOUNT_SETATTR, tree, b"", _AT_EMPTY_PATH, ctypes.byref(attributes), size)
    call(_SYS_MOVE_MOUNT, tree, b"", _AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)


def _user_namespace(libc: ctypes.CDLL, first: int, agent: int) -> int:
    """Descriptor of a user namespace with the map; only a process can make one, so a child does."""
    made_read, made_write = os.pipe()
    child = os.fork()
    if child == 0:
        libc.unshare(_CLONE_NEWUSER)
        os.write(made_write, b".")
        signal.pause()
    os.read(made_read, 1)
    try:
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{child}/{name}").write_text(id_map(first, agent))
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    bind(sys.argv[1], sys.argv[2], first=int(sys.argv[3]), agent=int(sys.argv[4]))
