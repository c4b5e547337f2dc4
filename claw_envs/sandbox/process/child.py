"""Child processes on the event loop: pidfds and pipe readers, no threads, no polling.

`asyncio.subprocess` is not used because it holds output without a bound and, on Python 3.11, costs a thread a child.
Linux only.
"""

import asyncio
import contextlib
import errno
import functools
import itertools
import os
import signal
import subprocess
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from claw_envs.core.errors import InfrastructureError

READ_SIZE = 1 << 16
_LOOKS = 1000
"""At a process that is to stop; one that waits for a disk may take longer, and starts nothing meanwhile."""
_CLEAN_UP_TIMEOUT = 30.0


def _interruptible(argv: list[str]) -> list[str]:
    """`argv` so that its process can be interrupted, also where we were started in the background and so cannot be."""
    deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return ["/usr/bin/env", "--default-signal=INT,QUIT", *argv] if deaf else argv


class Child:
    """One child process: its pidfd is watched, so that `ended` is set without a thread.

    Args:
        argv: command with an absolute path.
        env: the whole environment of the child.
        stdin, stdout, stderr: descriptors, which the caller closes; no other is inherited.

    Raises:
        OSError: if `argv` cannot be passed: a NUL byte or a lone surrogate in it, or too long.
        InfrastructureError: if this machine cannot start it.
    """

    def __init__(self, argv: list[str], *, env: dict[str, str], stdin: int, stdout: int, stderr: int) -> None:
        try:
            self._popen = subprocess.Popen(
                _interruptible(argv),
                env=env,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                cwd="/",
            )
        except ValueError as error:
            raise OSError(errno.EINVAL, f"not an argument: {error}") from error
        except OSError as error:
            if error.errno == errno.E2BIG:
                raise
            raise InfrastructureError(f"no process could be started: {error}") from error
        self.pid = self._popen.pid
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except OSError as error:
            self._popen.kill()
            self._popen.wait()
            raise InfrastructureError(f"no process could be started: {error}") from error
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._loop.add_reader(self._pidfd, self._reap)

    def _reap(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        code = self._popen.wait()
        if not self.ended.done():
            self.ended.set_result(128 - code if code < 0 else code)

    @property
    def alive(self) -> bool:
        """Whether it runs, as far as the event loop knows."""
        return not self.ended.done()

    def kill(self) -> None:
        """Kill it at once."""
        if self.alive:
            self._popen.kill()

    def kill_tree(self) -> None:
        """Kill it and what descends from it now; what has detached itself stays."""
        if self.alive:
            for pid in halted(self.pid):
                send_signal(pid, signal.SIGKILL)


def open_pairs(*makers: Callable[[], tuple[int, int]]) -> list[tuple[int, int]]:
    """The descriptors that each of `makers` (`os.pipe`, `os.openpty`) gives.

    Raises:
        InfrastructureError: if this process can have no more; then none is left open.
    """
    pairs: list[tuple[int, int]] = []
    try:
        for make in makers:
            pairs.append(make())
    except OSError as error:
        for fd in itertools.chain(*pairs):
            os.close(fd)
        raise InfrastructureError(f"no pipe could be made: {error}") from error
    return pairs


def send_signal(pid: int, number: signal.Signals) -> None:
    """Signal `pid`; nothing happens where it has gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def children(pid: int) -> list[int]:
    """Children of a process, by host pid; empty where it has gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, parents before children."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def halted(pid: int) -> list[int]:
    """`pid` and all processes below it, children before parents, each stopped first: one that runs may start more."""
    send_signal(pid, signal.SIGSTOP)
    for _ in range(_LOOKS):  # a process that is starting another one stops when that is done
        if _state(pid) in "TtZX":
            break
        os.sched_yield()
    return [*(below for child in children(pid) for below in halted(child)), pid]


def _state(pid: int) -> str:
    """As in `/proc/PID/stat`; `X` where it has gone."""
    fields = _stat(pid)
    return fields[0] if fields else "X"


def start_time(pid: int) -> int | None:
    """Clock ticks after boot at which the process started; None where it has gone."""
    fields = _stat(pid)
    return None if not fields or fields[0] == "Z" else int(fields[19])


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` from the state on; empty where it has gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def interrupt_since(shell: int, means: signal.Signals, since: float) -> None:
    """Interrupt a shell, and send `means` to what it started later than `since`, in seconds after boot."""
    ticks = int(since * os.sysconf("SC_CLK_TCK"))
    send_signal(shell, signal.SIGINT)
    for pid in descendants(shell):
        if (start_time(pid) or 0) >= ticks:
            send_signal(pid, means)


def read_into(fd: int, sink: Callable[[bytes], None], on_end: Callable[[], object]) -> None:
    """Read what `fd` holds now, without blocking; `on_end` is called at its end."""
    try:
        data = os.read(fd, READ_SIZE)
    except BlockingIOError:
        return
    except OSError:
        data = b""
    if data:
        sink(data)
    else:
        on_end()


def drain(fd: int, sink: Callable[[bytes], None], *, most: int = 1 << 22) -> None:
    """Read until `fd` is empty for now. `most` bounds what a background writer can make us read."""
    while most > 0:
        try:
            data = os.read(fd, READ_SIZE)
        except OSError:
            return
        if not data:
            return
        sink(data)
        most -= len(data)


async def first_of(*futures: asyncio.Future[Any], timeout: float | None = None) -> None:
    """Wait until one of `futures` is done, or the time is over; none is cancelled."""
    await asyncio.wait(futures, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` whole, also where the caller is cancelled, who then waits for it: half a clean-up is a leak."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task], timeout=_CLEAN_UP_TIMEOUT)
        raise


async def _writable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(fd)


async def write_all(fd: int, data: bytes) -> None:
    """Write everything to a non-blocking `fd`; a reader that has gone ends it quietly."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            await _writable(fd)
        except BrokenPipeError:
            return


async def communicate(
    argv: list[str],
    *,
    env: dict[str, str],
    stdin: bytes,
    timeout: float,
    stdout: Callable[[bytes], None],
    stderr: Callable[[bytes], None] | None = None,
) -> int | None:
    """Run a command to its end, with its output given to the sinks as it comes.

    Ends when the command ends, also where something it left in the background still holds its output open.

    Args:
        timeout: seconds after which the command and its descendants are killed.
        stderr: sink of its own for stderr; None joins it with stdout.

    Returns:
        Exit code, 128 + signal for a signal; None where it was stopped by the time-out.
    """
    loop = asyncio.get_running_loop()
    (in_read, in_write), (out_read, out_write), *errors = open_pairs(*[os.pipe] * (3 if stderr else 2))
    err_read, err_write = errors[0] if errors else (-1, out_write)
    for fd in (in_write, out_read, err_read):
        if fd >= 0:
            os.set_blocking(fd, False)
    try:
        child = Child(argv, env=env, stdin=in_read, stdout=out_write, stderr=err_write)
    except BaseException:
        for fd in {in_write, out_read, err_read} - {-1}:
            os.close(fd)
        raise
    finally:
        for fd in {in_read, out_write, err_write}:
            os.close(fd)
    sinks = {out_read: stdout} | ({err_read: stderr} if stderr else {})
    for fd, sink in sinks.items():
        loop.add_reader(fd, read_into, fd, sink, functools.partial(loop.remove_reader, fd))
    writer = asyncio.ensure_future(write_all(in_write, stdin))
    writer.add_done_callback(lambda _: os.close(in_write))
    code: int | None = None
    try:
        code = await asyncio.wait_for(asyncio.shield(child.ended), timeout)
    except TimeoutError:
        child.kill_tree()
        await child.ended
    finally:
        child.kill_tree()
        writer.cancel()
        for fd, sink in sinks.items():
            loop.remove_reader(fd)
            drain(fd, sink)
            os.close(fd)
        await asyncio.gather(writer, return_exceptions=True)
    return code
