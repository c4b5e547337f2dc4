"""One bash process: lines go in over a pipe, output comes out over a pipe, reports over a channel of their own.

bash is interactive without a controlling terminal, because such a bash survives an interrupt with its state. Each
command is one quoted argument of `eval`, so that any text works; its stdin is /dev/null, and it does not inherit the
channel of the reports. A report (a token that changes with every command, exit code, working directory) is written once
the command has ended: what the command wrote before is then already in the output pipe. The channel is a raw
pseudo-terminal only because an interactive bash complains, into the output, about a stderr that is none.

Not covered: a command that forges reports by searching bash's own saved descriptors misleads only its own exit code.
"""

import asyncio
import contextlib
import functools
import os
import secrets
import shlex
import signal
import time
import tty
from collections.abc import Callable

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.process.child import (
    Child,
    children,
    descendants,
    drain,
    first_of,
    read_into,
    send_signal,
    start_time,
    write_all,
)
from claw_envs.sandbox.process.output import Capture

ARGV = ["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"]
_OUT, _CONTROL = 200, 201
_MEANS = (*[signal.SIGINT] * 4, signal.SIGKILL)
"""What a command that is to stop is sent, one after the other: bash lets an interrupt pass that meets no running child,
as between two turns of a loop, so one may not be enough."""
_GRACE = 0.25
"""Seconds that it gets to end before the next."""
_READY_TIMEOUT = 20.0
_SETUP = (
    f"exec {_OUT}>&1 {_CONTROL}>&2 >/dev/null 2>&1; set +o history +o histexpand; unset HISTFILE PROMPT_COMMAND; "
    "PS1= PS2=\n"
)

Spawn = Callable[[list[str], int, int, int], Child]
"""Starts argv inside the sandbox with the given stdin, stdout and stderr."""


class Bash:
    """A running bash. Use `Bash.start`.

    Args:
        depth: how many processes stand between the spawned child and bash.
    """

    def __init__(self, child: Child, fds: tuple[int, int, int], *, depth: int, capture: Capture) -> None:
        loop = asyncio.get_running_loop()
        self._child = child
        self._stdin, self._output, self._control = fds
        self._depth = depth
        self._capture = capture
        self._reports = bytearray()
        self._token = b""
        self._report: asyncio.Future[tuple[int, str]] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()
        """Set once bash no longer answers: it ended, or replaced itself by another program."""
        self._last_code = 0
        self._begun = 0.0
        for fd, sink in ((self._output, capture.feed), (self._control, self._feed)):
            loop.add_reader(fd, read_into, fd, sink, functools.partial(self._end_of, fd))
        child.ended.add_done_callback(lambda _: self._lost())

    @classmethod
    async def start(cls, spawn: Spawn, *, depth: int, capture: Capture) -> "Bash":
        """Start bash and wait until it answers.

        Raises:
            InfrastructureError: if it does not.
        """
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        control_read, control_write = os.openpty()
        tty.setraw(control_write)
        ours = (in_write, out_read, control_read)
        try:
            child = spawn(ARGV, in_read, out_write, control_write)
        except BaseException:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in (in_read, out_write, control_write):
                os.close(fd)
        for fd in ours:
            os.set_blocking(fd, False)
        bash = cls(child, ours, depth=depth, capture=capture)
        try:
            await bash._send(_SETUP)
            if await bash.wait(_READY_TIMEOUT) is None:
                said = bytes(bash._reports).decode(errors="replace").strip()
                raise InfrastructureError(f"no shell could be started: {said or 'no answer'}")
        except BaseException:
            await bash.stop()
            raise
        return bash

    @property
    def exit_code(self) -> int | None:
        """Exit code of a bash that ended by itself; None where it runs or was killed."""
        if not self._child.ended.done() or self._child.ended.result() > 128:
            return None
        return self._child.ended.result()

    async def begin(self, command: str) -> None:
        """Hand over a command; `wait` tells how it ended."""
        self._begun = time.clock_gettime(time.CLOCK_BOOTTIME)
        restore = f"(exit {self._last_code})\n" if self._last_code else ""
        redirects = f"</dev/null >&{_OUT} 2>&{_OUT} {_OUT}>&- {_CONTROL}>&-"
        await self._send(f"{restore}builtin eval {shlex.quote(command)} {redirects}\n")

    async def _send(self, text: str) -> None:
        self._token = secrets.token_hex(8).encode()
        self._reports.clear()
        self._report = asyncio.get_running_loop().create_future()
        report = f"builtin printf '%s %s %s\\0' {self._token.decode()} $? \"$PWD\" >&{_CONTROL}\n"
        writing = asyncio.ensure_future(write_all(self._stdin, (text + report).encode("utf-8", "surrogatepass")))
        try:
            await first_of(writing, self.gone)
        finally:
            writing.cancel()

    async def wait(self, timeout: float | None) -> tuple[int, str] | None:
        """Exit code and working directory; None where the time is over or bash is gone."""
        await first_of(self._report, self.gone, timeout=timeout)
        drain(self._output, self._capture.feed)
        if not self._report.done():
            return None
        self._last_code = self._report.result()[0]
        return self._report.result()

    async def interrupt(self) -> tuple[int, str] | None:
        """Stop the command: first as Ctrl-C does, then by killing what it started."""
        shell = self._child.pid
        for _ in range(self._depth):
            below = children(shell)
            if not below:
                return None
            shell = below[0]
        for means in _MEANS:
            send_signal(shell, signal.SIGINT)
            for pid in self._started(shell):
                send_signal(pid, means)
            report = await self.wait(_GRACE)
            if report is not None or self.gone.done():
                return report
        return None

    def _started(self, shell: int) -> list[int]:
        ticks = int(self._begun * os.sysconf("SC_CLK_TCK"))
        return [pid for pid in descendants(shell) if (start_time(pid) or 0) >= ticks]

    async def stop(self) -> None:
        """Kill it with what descends from it."""
        self._child.kill_tree()
        await self._child.ended
        self._lost()
        loop = asyncio.get_running_loop()
        for fd in (self._output, self._control):
            loop.remove_reader(fd)
        drain(self._output, self._capture.feed)
        for fd in (self._stdin, self._output, self._control):
            os.close(fd)

    def _feed(self, data: bytes) -> None:
        self._reports += data
        *complete, rest = bytes(self._reports).split(b"\0")
        for message in complete:
            token, _, tail = message.rpartition(self._token + b" ")
            code, _, cwd = tail.partition(b" ")
            if (token or self._token) and code.isdigit() and not self._report.done():
                self._report.set_result((int(code), cwd.decode("utf-8", "replace")))
        self._reports = bytearray(rest[-4096:])

    def _end_of(self, fd: int) -> None:
        asyncio.get_running_loop().remove_reader(fd)
        if fd == self._control:
            self._lost()

    def _lost(self) -> None:
        with contextlib.suppress(asyncio.InvalidStateError):
            self.gone.set_result(None)
