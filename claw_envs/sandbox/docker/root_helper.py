"""The helper that swaps the root of running containers. Run as a script by root (`python -I -S root_helper.py`).

It reads one JSON request a line and answers each with one line, `{}` or `{"error": ...}`; it ends with its input, and
the kernel then drops all that it mounted. It lives in a mount namespace of its own over an empty root, so that neither
the host nor a container sees its mounts, and mount options that a container can read name no path of the host.

A container's first root, as its engine made it, stays as the lowest layer. Each layer is a tmpfs of limited size under
an overlay; it is made here, moved into the container's mount namespace and made its root, also for what the engine
starts there later. The container gets a new `/dev` with each layer, keeps its `/proc` and `/sys`, and of the files that
its engine bound into it (`/etc/hosts`) it gets copies.

Standard library only. Not covered: containers in a user namespace; volumes, which are left out of the new root.
"""

import contextlib
import ctypes
import errno
import json
import os
import resource
import select
import signal
import stat
import sys
import time
from collections.abc import Iterator
from typing import Any

_NEWNS, _NEWIPC, _NEWPID = 0x20000, 0x8000000, 0x20000000
_NAMESPACES = {"mnt": _NEWNS, "pid": _NEWPID, "ipc": _NEWIPC}
_NOSUID, _NODEV, _REMOUNT, _BIND, _MOVE, _RECURSIVE, _PRIVATE = 2, 4, 32, 4096, 8192, 16384, 1 << 18
_DETACH = 2
_OPEN_TREE, _MOVE_MOUNT = 428, 429
_CLONE, _AT_RECURSIVE, _FROM_DESCRIPTOR = 1, 0x8000, 4
_AT_FDCWD = -100
_INODES_PER_MB = 256
_KILL_TIMEOUT = 10
_GUARD_TIMEOUT = 10
_ATTEMPTS = 5
"""A process of ours in a container can be killed by an agent that is root there."""
_PLACES = ("root", "upper", "seed", "base")
_KEPT = ("proc", "sys", "dev/pts", "dev/mqueue")
_DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
          "core": "/proc/kcore", "ptmx": "pts/ptmx"}  # fmt: skip
_libc = ctypes.CDLL(None, use_errno=True)
_home: dict[str, int] = {}
"""Descriptors of this process's own namespaces."""


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    arguments = [text.encode() or None for text in (source, target, kind)]
    _check(_libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None), f"mount {target} {options}")


def _unmount(path: str) -> None:
    _check(_libc.umount2(path.encode(), _DETACH), f"umount {path}")


def _clone(path: str, flags: int = 0) -> int:
    """A descriptor of a detached copy of the mount at `path`, or of a directory in it."""
    return _check(_libc.syscall(_OPEN_TREE, _AT_FDCWD, path.encode(), _CLONE | os.O_CLOEXEC | flags), f"clone {path}")


def _attach(tree: int, path: str, directory: int = _AT_FDCWD) -> None:
    _check(_libc.syscall(_MOVE_MOUNT, tree, b"", directory, path.encode(), _FROM_DESCRIPTOR), f"attach {path}")


def _enter_root(directory: int) -> None:
    """Make `directory`, a mount, the root of this mount namespace and of all in it that had the old one."""
    os.fchdir(directory)
    _check(_libc.pivot_root(b".", b"."), "pivot_root")
    _unmount(".")
    os.chdir("/")


def seclude() -> None:
    """Enter a mount namespace of our own over an empty root with the host's `/proc`."""
    _check(_libc.unshare(_NEWNS), "unshare")
    _mount("", "/", flags=_RECURSIVE | _PRIVATE)
    _mount("tmpfs", "/sys", "tmpfs", options="mode=0700")
    os.mkdir("/sys/proc")
    _mount("/proc", "/sys/proc", flags=_BIND)
    _enter_root(os.open("/sys", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))


class Root:
    """The layers of one container.

    Args:
        key: unique among the containers.
        pid: host pid of the container's first process.
        disk_mb: MiB that each layer may hold.
        workdir: made where it is missing, owned by `uid` and `gid`.
    """

    def __init__(self, key: str, *, pid: int, disk_mb: int, workdir: str, uid: int, gid: int) -> None:
        self._path = f"/{key}"
        self._disk_mb = disk_mb
        self._workdir, self._owner = workdir, (uid, gid)
        self._inside = {kind: os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in _NAMESPACES}
        self._frozen = False
        self._files: dict[str, bytes] = {}
        self._pid = pid
        for name in ("", *_PLACES):
            os.mkdir(f"{self._path}/{name}")

    def adopt(self) -> None:
        """Put the first layer over the container's root. Where that fails, the container is as it was."""
        if self._owner[0] == 0 and not _is_guarded(self._pid):
            raise OSError(errno.EPERM, "the image has no setpriv, so its root could take over the first process")
        with open(f"/proc/{self._pid}/mountinfo") as file:
            places = [line.split()[4].replace("\\040", " ") for line in file]
        with self._at("mnt"):
            base = _clone("/")
            self._files = {place: _read(place) for place in places if stat.S_ISREG(os.lstat(place).st_mode)}
        _attach(base, f"{self._path}/base")
        os.close(base)
        self._layer()

    @contextlib.contextmanager
    def _at(self, kind: str) -> Iterator[None]:
        _check(_libc.setns(self._inside[kind], _NAMESPACES[kind]), f"enter {kind}")
        try:
            yield
        finally:
            _check(_libc.setns(_home[kind], _NAMESPACES[kind]), f"leave {kind}")

    def _layer(self) -> None:
        """Put an empty layer over the others and make it the container's root."""
        upper, root = f"{self._path}/upper", f"{self._path}/root"
        limits = f"size={self._disk_mb}m,nr_inodes={self._disk_mb * _INODES_PER_MB},mode=0755"
        _mount("tmpfs", upper, "tmpfs", _NOSUID, limits)
        for name in ("files", "work"):
            os.mkdir(f"{upper}/{name}")
        _make_devices(f"{upper}/dev")
        lowers = [f"{self._path}/seed/files"] if self._frozen else []
        options = f"lowerdir={':'.join([*lowers, f'{self._path}/base'])},upperdir={upper}/files,workdir={upper}/work"
        _mount("overlay", root, "overlay", _NOSUID | _NODEV, options)
        for name in ("proc", "sys", "dev"):
            os.makedirs(f"{root}/{name}", exist_ok=True)
        trees = [_clone(root), _clone(f"{upper}/dev")]
        try:
            self._enter(trees)
        finally:
            for tree in trees:
                os.close(tree)

    def _enter(self, trees: list[int]) -> None:
        """Make the first of `trees` the container's root and the second its `/dev`; all opened here are added."""
        new, devices = trees
        with self._at("mnt"):
            kept = {name: _clone(f"/{name}", _AT_RECURSIVE) for name in _KEPT if os.path.ismount(f"/{name}")}
            trees += kept.values()
            _attach(new, "/")
            _attach(devices, "dev", new)
            for name, tree in kept.items():
                _attach(tree, name, new)
            _enter_root(new)
            if not self._frozen:
                self._complete()

    def _complete(self) -> None:
        for place, content in self._files.items():
            with open(place, "wb") as file:
                file.write(content)
        made = []
        parent = self._workdir
        while not os.path.isdir(parent):
            made.append(parent)
            parent = os.path.dirname(parent)
        for path in reversed(made):
            os.mkdir(path)
            os.chown(path, *self._owner)

    def freeze(self) -> None:
        """Kill all, make what was written so far the seed, and put a layer over it."""
        self.kill()
        self._frozen = True
        _unmount(f"{self._path}/root")
        _mount(f"{self._path}/upper", f"{self._path}/seed", flags=_MOVE)
        self._layer()

    def reset(self) -> None:
        """Kill all, drop the layer and put an empty one there; System V and POSIX objects go too."""
        self.kill()
        self._run_inside(_remove_ipc)
        _unmount(f"{self._path}/root")
        _unmount(f"{self._path}/upper")
        self._layer()

    def grow(self, disk_mb: int) -> None:
        """Let the layer hold `disk_mb` MiB from now on."""
        limits = f"size={disk_mb}m,nr_inodes={disk_mb * _INODES_PER_MB}"
        _mount("", f"{self._path}/upper", "", _REMOUNT | _NOSUID, limits)

    def kill(self) -> None:
        """Kill every process of the container but its first, and wait until they have gone."""
        self._run_inside(_kill_others)

    def _run_inside(self, function: Any) -> None:
        """Call `function` in a process of its own in the container's namespaces."""
        for _ in range(_ATTEMPTS):
            with self._at("pid"):
                child = os.fork()
                if child == 0:
                    signal.alarm(_KILL_TIMEOUT)
                    for kind in ("ipc", "mnt"):
                        _check(_libc.setns(self._inside[kind], _NAMESPACES[kind]), f"enter {kind}")
                    function()
                    os._exit(0)
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if ended == 0:
                return
            if ended != -signal.SIGKILL:
                break
            self._strike()
        raise OSError(f"{function.__name__.strip('_')} ended with {ended}")

    def _strike(self) -> None:
        """Kill what is in the container from outside, where nothing can strike back; it may fork faster than that."""
        namespace = os.fstat(self._inside["pid"]).st_ino
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if int(name) != self._pid and os.stat(f"/proc/{name}/ns/pid").st_ino == namespace:
                    os.kill(int(name), signal.SIGKILL)

    def drop(self) -> None:
        """Forget the container."""
        for fd in self._inside.values():
            os.close(fd)
        for name in _PLACES:
            with contextlib.suppress(OSError):  # no seed, or a layer that could not be made
                _unmount(f"{self._path}/{name}")
            os.rmdir(f"{self._path}/{name}")
        os.rmdir(self._path)


def _is_guarded(pid: int) -> bool:
    """Whether a first process, once it waits, is one that no other process of the container's root may trace."""
    end = time.monotonic() + _GUARD_TIMEOUT
    while _read(f"/proc/{pid}/comm") != b"bash\n" or not os.path.exists(f"/proc/{pid}/fd/3"):  # then it waits
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
    with open(f"/proc/{pid}/status") as file:
        real, effective = next(line.split()[1:3] for line in file if line.startswith("Uid:"))
    return real != effective


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _make_devices(path: str) -> None:
    os.mkdir(path)
    for name, (major, minor) in _DEVICES.items():
        os.mknod(f"{path}/{name}", stat.S_IFCHR, os.makedev(major, minor))
        os.chmod(f"{path}/{name}", 0o666)
    for name, target in _LINKS.items():
        os.symlink(target, f"{path}/{name}")
    for name in ("pts", "mqueue", "shm"):
        os.mkdir(f"{path}/{name}")
    os.chmod(f"{path}/shm", 0o1777)


def _kill_others() -> None:
    while True:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}
        if not others:
            return
        for pid in others:
            with contextlib.suppress(OSError):
                fd = os.pidfd_open(pid)
                select.select([fd], [], [])
                os.close(fd)


def _remove_ipc() -> None:
    for kind, remove in (("shm", _libc.shmctl), ("msg", _libc.msgctl)):
        for line in _ids(kind):
            remove(line, 0, None)
    for line in _ids("sem"):
        _libc.semctl(line, 0, 0)
    for name in os.listdir("/dev/mqueue"):
        os.unlink(f"/dev/mqueue/{name}")


def _ids(kind: str) -> list[int]:
    with open(f"/proc/sysvipc/{kind}") as file:
        return [int(line.split()[1]) for line in file.readlines()[1:]]


def serve() -> None:
    """Answer requests until the input ends."""
    os.umask(0o022)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    seclude()
    _home.update({kind: os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in _NAMESPACES})
    sys.meta_path.clear()  # nothing may be imported from now on: in a container the search path is the agent's
    roots: dict[str, Root] = {}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        do, key = request.pop("do"), request.pop("key")
        answer: dict[str, str | int | None] = {}
        try:
            if do == "adopt":
                root = roots[key] = Root(key, **request)
                root.adopt()
            elif do == "drop":
                if key in roots:
                    roots.pop(key).drop()
            else:
                getattr(roots[key], do)(**request)
        except OSError as error:
            answer |= {"error": str(error), "errno": error.errno}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
