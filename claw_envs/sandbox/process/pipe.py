"""A program that is talked to over its standard input and output, in bytes: a server of ours inside a sandbox.

Not covered: what the program left running in a session of its own lives on, until the sandbox stops or resets.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Awaitable, Callable

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.process.child import Child, drain, first_of, open_pairs, write_all
from claw_envs.sandbox.process.output import Capture

ERROR_BYTES = 8192
"""Kept of what a program prints to stderr."""
_PIPE_SIZE = 1 << 20
"""Bytes that the kernel holds between program and reader where it may, so that a picture takes few turns."""

Spawn = Callable[[int, int, int], Child]
"""Starts the program inside the sandbox with the given stdin, stdout and stderr."""


class ChildPipe:
    """A `Pipe` to a child process; see the module.

    Args:
        spawn: starts the program.
        sink: called with what the program prints.
        check: raises `InfrastructureError` where the sandbox of a program that ended with this code is gone.

    Raises:
        OSError: if the command cannot be passed to a program.
        InfrastructureError: if no process can be started.
    """

    def __init__(self, spawn: Spawn, *, sink: Callable[[bytes], None], check: Callable[[int], Awaitable[None]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._check = check
        self._errors = Capture(ERROR_BYTES)
        (in_read, self._stdin), (out_read, out_write), (err_read, err_write) = open_pairs(*[os.pipe] * 3)
        self._sinks = {out_read: sink, err_read: self._errors.feed}
        try:
            for fd in (self._stdin, out_read):
                with contextlib.suppress(OSError):  # an ordinary user's pipes may be bounded
                    fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
            for fd in (self._stdin, out_read, err_read):
                os.set_blocking(fd, False)
            self._child = spawn(in_read, out_write, err_write)
        except BaseException:
            self._close_ours()
            raise
        finally:
            for fd in (in_read, out_write, err_write):
                os.close(fd)
        self.ended: asyncio.Future[int | None] = self._loop.create_future()
        for fd in self._sinks:
            self._loop.add_reader(fd, self._read, fd)
        self._ending = asyncio.ensure_future(self._end())

    async def write(self, data: bytes) -> None:
        """See `Pipe.write`."""
        if self.ended.done():
            return
        writing = asyncio.ensure_future(write_all(self._stdin, data))
        try:
            await first_of(writing, self.ended)
            if writing.done():
                writing.result()
        finally:
            writing.cancel()

    def errors(self) -> str:
        """See `Pipe.errors`."""
        return self._errors.take()[0]

    async def close(self) -> None:
        """See `Pipe.close`."""
        self._child.kill_tree()
        await asyncio.shield(self._ending)
        self._close_ours()

    def _close_ours(self) -> None:
        for fd in (self._stdin, *self._sinks):
            if fd >= 0:
                os.close(fd)
        self._stdin, self._sinks = -1, {}

    def _read(self, fd: int) -> None:
        try:
            data = os.read(fd, _PIPE_SIZE)
        except BlockingIOError:
            return
        if data:
            self._sinks[fd](data)
        else:
            self._loop.remove_reader(fd)

    async def _end(self) -> None:
        code: int | None = await self._child.ended
        for fd, sink in self._sinks.items():
            self._loop.remove_reader(fd)
            drain(fd, sink)
        try:
            await self._check(self._child.ended.result())
        except InfrastructureError:
            code = None
        self.ended.set_result(code)
