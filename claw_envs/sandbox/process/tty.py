"""A program on a pseudo-terminal of its own, for the agent: job control, Ctrl-C and /dev/tty work inside.

The host makes the pseudo-terminal and keeps its near end; the program gets the other as stdin, stdout and stderr, and
`program` makes it the controlling terminal of a session inside. It is nobody's but this program's: what the agent
pushes into its own input (TIOCSTI) reaches no terminal of the host's.

Not covered: what the program left running in a session of its own lives on, cut off from the terminal, until the
sandbox stops or resets.
"""

import asyncio
import contextlib
import os
import termios
from collections.abc import Awaitable, Callable

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.process.child import READ_SIZE, Child, drain, first_of, open_pairs, write_all

TERM = "linux"
"""What programs are told of the terminal: a plain one, without a second screen and with one code for each key."""
_BURST, _PAUSE = 1 << 18, 0.01
"""Bytes after which reading rests, and seconds that it does: a flood costs the event loop little."""
# a subshell, for a process that leads no group may make a session without a fork; `exit` keeps the subshell one
_SESSION = 'cd -- "$0" || exit; (exec setsid -c /bin/bash -c "$1"); exit $?'

Spawn = Callable[[int], Child]
"""Starts the program inside the sandbox with the given descriptor as its stdin, stdout and stderr."""


def program(command: str, cwd: str) -> list[str]:
    """`bash -c command` in `cwd`, leading a session whose controlling terminal is its standard input."""
    return ["/bin/sh", "-c", _SESSION, cwd, command]


class Tty:
    """A `Terminal`; see the module.

    Args:
        spawn: starts the program.
        sink: called with what the program prints.
        check: raises `InfrastructureError` where the sandbox of a program that ended with this code is gone.
        owner: uid and gid inside the sandbox as the host counts them, where they are not this process's own.

    Raises:
        OSError: if the command cannot be passed to a program.
        InfrastructureError: if no process can be started.
    """

    def __init__(
        self,
        spawn: Spawn,
        *,
        sink: Callable[[bytes], None],
        check: Callable[[int], Awaitable[None]],
        rows: int,
        columns: int,
        owner: tuple[int, int] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._sink, self._check = sink, check
        self._burst = 0
        self._resting: asyncio.TimerHandle | None = None
        ((self._fd, far),) = open_pairs(os.openpty)
        try:
            os.set_blocking(self._fd, False)
            termios.tcsetwinsize(far, (rows, columns))
            if owner is not None:
                os.fchown(far, *owner)
            self._child = spawn(far)
        except BaseException:
            os.close(self._fd)
            raise
        finally:
            os.close(far)
        self.ended: asyncio.Future[int | None] = self._loop.create_future()
        self._ending = asyncio.ensure_future(self._end())
        self._loop.add_reader(self._fd, self._read)

    async def write(self, data: bytes) -> None:
        """See `Terminal.write`. Waits while the program reads nothing."""
        if self.ended.done():
            return
        writing = asyncio.ensure_future(write_all(self._fd, data))
        try:
            await first_of(writing, self.ended)
            if writing.done():
                with contextlib.suppress(OSError):  # the far end was closed meanwhile
                    writing.result()
        finally:
            writing.cancel()

    async def close(self) -> None:
        """See `Terminal.close`."""
        self._child.kill_tree()
        await asyncio.shield(self._ending)
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _read(self) -> None:
        try:
            data = os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:  # nobody holds the far end any more
            self._loop.remove_reader(self._fd)
            return
        self._sink(data)
        self._burst += len(data)
        if self._burst >= _BURST:
            self._loop.remove_reader(self._fd)
            self._resting = self._loop.call_later(_PAUSE, self._resume)

    def _resume(self) -> None:
        self._burst = 0
        self._loop.add_reader(self._fd, self._read)

    async def _end(self) -> None:
        code: int | None = await self._child.ended
        if self._resting is not None:
            self._resting.cancel()
        self._loop.remove_reader(self._fd)
        drain(self._fd, self._sink)
        try:
            await self._check(self._child.ended.result())
        except InfrastructureError:
            code = None
        self.ended.set_result(code)
