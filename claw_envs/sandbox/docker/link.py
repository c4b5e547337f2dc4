"""Links to a bash, terminals, and pipes, over the attached exec of a container.

An interactive bash complains about a stderr that is no terminal: at its start into nowhere, later into the output, out
of which that is taken.
"""

import asyncio
import contextlib
import signal

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.docker.container import Container
from claw_envs.sandbox.docker.hush import Hush
from claw_envs.sandbox.docker.stream import Command, Sink, Stream
from claw_envs.sandbox.process.child import first_of
from claw_envs.sandbox.process.link import Connect, Link
from claw_envs.sandbox.process.output import Capture
from claw_envs.sandbox.process.pipe import ERROR_BYTES

_BURST, _PAUSE = 1 << 18, 0.01
"""Bytes of a terminal after which reading rests, and seconds that it does: a flood that nobody stops costs little."""
_LAST_WORDS = 2.0
"""Seconds that what an ended program has printed gets to arrive: something that it left may hold its output open."""
_QUIETLY = 'exec "$@" 2>/dev/null'


class ExecLink:
    """A `Link` whose output and reports come over one stream."""

    control = 1

    def __init__(self, container: Container, stream: Stream, output: Hush) -> None:
        self._container, self._stream, self._output = container, stream, output
        self.mark = f"\\000{stream.mark} "
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.exit_code: int | None = None
        stream.ended.add_done_callback(lambda _: self._lost())

    async def write(self, data: bytes) -> None:
        """See `Link.write`."""
        self._stream.write(data)

    def settle(self) -> None:
        """See `Link.settle`."""
        self._output.settle()

    async def interrupt(self, means: signal.Signals, *, since: float) -> None:
        """See `Link.interrupt`."""
        with contextlib.suppress(InfrastructureError):  # then it is gone, and `gone` is set
            await self._container.interrupt(self._stream, means, since=since)

    async def close(self) -> None:
        """See `Link.close`."""
        if self._stream.ended.done():
            code = self._stream.ended.result()
            self.exit_code = code if code is not None and code <= 128 else None
        await self._container.kill(self._stream)
        self.settle()
        self._lost()

    def _lost(self) -> None:
        if not self.gone.done():
            self.gone.set_result(None)


def exec_link(container: Container, *, user: str, env: dict[str, str], cwd: str) -> Connect:
    """Links to shells of `user` in a container, which start in `cwd`."""

    async def connect(argv: list[str], output: Sink, reports: Sink) -> Link:
        argv = ["/bin/sh", "-c", _QUIETLY, "sh", *argv]
        command = Command(argv, user=user, env=env, cwd=cwd, strict=False, joined=False)
        hush = Hush(output)
        stream = await container.open(command, stdout=hush.feed, stderr=reports, message=reports)
        return ExecLink(container, stream, hush)

    return connect


class _ExecProgram:
    """A program over an exec, that is written to and killed."""

    _last_words = 0.0
    """Seconds that what it printed may come after the word that it has ended."""

    def __init__(self, container: Container, stream: Stream) -> None:
        self._container, self._stream = container, stream
        self.ended: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._ending = asyncio.ensure_future(self._end())

    async def write(self, data: bytes) -> None:
        """Give `data` to the program; waits while it reads nothing."""
        self._stream.write(data)
        await first_of(self._stream.writable, self._stream.ended, self._stream.closed)

    async def close(self) -> None:
        """Kill it with what descends from it. May be called again."""
        await self._container.kill(self._stream)
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        code = await self._stream.ended
        if code is None:
            with contextlib.suppress(InfrastructureError):
                code = await self._container.exit_code(self._stream)
        elif self._last_words:
            await first_of(self._stream.closed, timeout=self._last_words)
        self.ended.set_result(code)


class ExecTerminal(_ExecProgram):
    """A `Terminal` over an exec that has a pseudo-terminal. Use `ExecTerminal.open`."""

    @classmethod
    async def open(cls, container: Container, command: Command, sink: Sink) -> "ExecTerminal":
        """Start a command whose output `sink` gets.

        Raises:
            InfrastructureError: if it cannot be started.
        """
        opened: list[Stream] = []
        burst = 0

        def feed(data: bytes) -> None:
            nonlocal burst
            sink(data)
            burst += len(data)
            if burst >= _BURST and opened:
                burst = 0
                opened[0].pause(_PAUSE)

        opened.append(await container.open(command, stdout=feed))
        return cls(container, opened[0])


class ExecPipe(_ExecProgram):
    """A `Pipe` over an exec: what it printed comes another way than the word that it has ended. Use `ExecPipe.open`."""

    _last_words = _LAST_WORDS

    def __init__(self, container: Container, stream: Stream, errors: Capture) -> None:
        super().__init__(container, stream)
        self._errors = errors

    @classmethod
    async def open(cls, container: Container, command: Command, sink: Sink) -> "ExecPipe":
        """Start a raw command whose standard output `sink` gets.

        Raises:
            InfrastructureError: if it cannot be started.
        """
        errors = Capture(ERROR_BYTES)
        return cls(container, await container.open(command, stdout=sink, stderr=errors.feed), errors)

    def errors(self) -> str:
        """See `Pipe.errors`."""
        return self._errors.take()[0]
