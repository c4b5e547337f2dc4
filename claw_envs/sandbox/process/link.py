"""How a bash is reached: `Link`, and the one over three descriptors of a child process of ours.

bash interprets what is written to it; its output and its reports come back to two functions. Where both come over one
stream, reports are told apart by a mark.
"""

import asyncio
import contextlib
import functools
import os
import signal
import tty
from collections.abc import Awaitable, Callable
from typing import Protocol

from claw_envs.sandbox.process.child import (
    Child,
    children,
    drain,
    first_of,
    interrupt_since,
    open_pairs,
    read_into,
    write_all,
)

Sink = Callable[[bytes], None]
Spawn = Callable[[list[str], int, int, int], Child]
"""Starts argv inside the sandbox with the given stdin, stdout and stderr."""


class Link(Protocol):
    """One bash that runs, and the way to it."""

    control: int
    """bash's descriptor that reports are written to, when it has just started."""
    mark: str
    """What begins a report, as `printf` writes it; a NUL byte ends each."""
    gone: asyncio.Future[None]
    """Set once bash no longer answers: it ended, or replaced itself by another program."""
    exit_code: int | None
    """Of a bash that ended by itself; known once the link is closed."""

    async def write(self, data: bytes) -> None:
        """Give bash `data` to interpret."""
        ...

    def settle(self) -> None:
        """Take in the output that was written before the last report."""
        ...

    async def interrupt(self, means: signal.Signals, *, since: float) -> None:
        """Interrupt bash, and send `means` to what it has started since (seconds after boot)."""
        ...

    async def close(self) -> None:
        """Kill it with what descends from it."""
        ...


Connect = Callable[[list[str], Sink, Sink], Awaitable[Link]]
"""Starts argv inside the sandbox; the sinks get its output and its reports."""


class ChildLink:
    """A `Link` to a child process. Use `child_link`.

    Reports come over a raw pseudo-terminal, only because an interactive bash complains, into the output, about a stderr
    that is none.

    Args:
        fds: our ends of bash's stdin, stdout and stderr.
        depth: how many processes stand between the spawned child and bash.
    """

    control, mark = 2, ""

    def __init__(self, child: Child, fds: tuple[int, int, int], *, depth: int, output: Sink, reports: Sink) -> None:
        loop = asyncio.get_running_loop()
        self._child = child
        self._stdin, self._output, self._reports = fds
        self._depth = depth
        self._sink = output
        self.gone: asyncio.Future[None] = loop.create_future()
        self.exit_code: int | None = None
        for fd, sink in ((self._output, output), (self._reports, reports)):
            loop.add_reader(fd, read_into, fd, sink, functools.partial(self._end_of, fd))
        child.ended.add_done_callback(lambda _: self._lost())

    async def write(self, data: bytes) -> None:
        """See `Link.write`."""
        writing = asyncio.ensure_future(write_all(self._stdin, data))
        try:
            await first_of(writing, self.gone)
        finally:
            writing.cancel()

    def settle(self) -> None:
        """See `Link.settle`."""
        drain(self._output, self._sink)

    async def interrupt(self, means: signal.Signals, *, since: float) -> None:
        """See `Link.interrupt`."""
        shell = self._child.pid
        for _ in range(self._depth):
            below = children(shell)
            if not below:
                return
            shell = below[0]
        interrupt_since(shell, means, since)

    async def close(self) -> None:
        """See `Link.close`."""
        self._child.kill_tree()
        code = await self._child.ended
        self.exit_code = code if code <= 128 else None
        self._lost()
        loop = asyncio.get_running_loop()
        for fd in (self._output, self._reports):
            loop.remove_reader(fd)
        self.settle()
        for fd in (self._stdin, self._output, self._reports):
            os.close(fd)

    def _end_of(self, fd: int) -> None:
        asyncio.get_running_loop().remove_reader(fd)
        if fd == self._reports:
            self._lost()

    def _lost(self) -> None:
        with contextlib.suppress(asyncio.InvalidStateError):
            self.gone.set_result(None)


def child_link(spawn: Spawn, *, depth: int) -> Connect:
    """Links to children that `spawn` starts, which has `depth` processes between its child and bash."""

    async def connect(argv: list[str], output: Sink, reports: Sink) -> Link:
        pairs = open_pairs(os.pipe, os.pipe, os.openpty)
        (in_read, in_write), (out_read, out_write), (control_read, control_write) = pairs
        tty.setraw(control_write)
        ours = (in_write, out_read, control_read)
        try:
            child = spawn(argv, in_read, out_write, control_write)
        except BaseException:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in (in_read, out_write, control_write):
                os.close(fd)
        for fd in ours:
            os.set_blocking(fd, False)
        return ChildLink(child, ours, depth=depth, output=output, reports=reports)

    return connect
