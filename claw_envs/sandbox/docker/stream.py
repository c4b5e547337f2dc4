"""One process in a container, over the socket that the engine attaches to its exec.

The engine keeps no order between stdout and stderr, and ends the stream only once everything that the process left
behind has let go of it. So a small shell around the command joins the two, and tells in the stream itself, in messages
that begin with a secret, which pid it has inside and how the command ended.

Not covered: a command that looks its shell's arguments up and forges a message misleads only its own caller.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import NamedTuple

Sink = Callable[[bytes], None]
_LONGEST_MESSAGE = 16384
_HEADER = 8
_GO = 'cd -- "$1" 2>/dev/null || cd -- "$2" || exit'
_SAYS = "printf '\\0%s %s %s\\0' \"$0\""
_RAW = f"""{_SAYS} begin $$ >&2
read -r _
exec 3<&0
env --default-signal=INT true 2>/dev/null && env='env --default-signal=INT,QUIT'
({_GO}; shift 2; exec $env "$@" <&3 3<&-) &
exec 3<&- </dev/null >/dev/null
wait $!
{_SAYS} end $? >&2"""
"""The shell around a command whose output is its own. It waits for a line, else output could come before the word that
the command has begun. While the command runs it holds neither end of its streams: other processes of the same user
could reach them through it. What a shell starts in the background is deaf to interrupts, where `env` does not heal it.
"""


class Command(NamedTuple):
    """What is to run in a container."""

    argv: list[str]
    user: str
    """As the engine takes it: name or id, with or without a group."""
    env: dict[str, str]
    """On top of the image's."""
    cwd: str
    strict: bool = True
    """Whether a missing `cwd` is an error; else the command runs in `/`."""
    stdin: bytes | None = None
    """All of its standard input; None leaves that open, for `write`."""
    tty: bool = False
    joined: bool = True
    """Whether stderr goes the way of stdout."""
    raw: bool = False
    """Whether stdout is the command's alone: messages go the way of stderr, and the command waits for a line."""

    def wrapped(self, mark: str) -> list[str]:
        """The command with the shell around it."""
        if self.raw:
            return ["/bin/sh", "-c", _RAW, mark, self.cwd, self.cwd if self.strict else "/", *self.argv]
        joins = "exec 2>&1; " if self.joined and not self.tty else ""
        survives = "trap : INT QUIT; " if self.tty else ""  # typed to the command, they come to its shell too
        run = f'head -c {len(self.stdin)} | "$@"' if self.stdin else 'exec "$@"'
        script = f"{survives}{_SAYS} begin $$; ({joins}{_GO}; shift 2; {run}); {_SAYS} end $?"
        return ["/bin/sh", "-c", script, mark, self.cwd, self.cwd if self.strict else "/", *self.argv]


class Stream(asyncio.Protocol):
    """The near end of the socket; `Container.open` makes one.

    Args:
        raw: whether messages come with stderr, see `Command`.
        stdout: gets what it prints.
        stderr: gets what it prints to stderr, where that is not joined.
        message: gets the messages that are not the stream's own.
    """

    def __init__(
        self, exec_id: str, mark: str, *, tty: bool, raw: bool = False, stdout: Sink, stderr: Sink, message: Sink
    ) -> None:
        loop = asyncio.get_running_loop()
        self.exec_id, self.mark = exec_id, mark
        self._sinks = {0: stdout, 1: stdout, 2: self._split} if raw else {0: stdout, 1: self._split, 2: stderr}
        self._unmarked = stderr if raw else stdout
        """Gets what is left of the stream that the messages are taken out of."""
        self._message = message
        self._receive: Sink = self._head
        self._body: Sink = self._split if tty else self._frames
        self._rest = b""
        self._held = b""
        self._begins = b"\0" + mark.encode() + b" "
        self._transport: asyncio.Transport | None = None
        self.host_pid: int | None = None
        """Of the shell around the command, where somebody has looked it up."""
        self.writable: asyncio.Future[None] = loop.create_future()
        """Set while what was written is on its way."""
        self.writable.set_result(None)
        self.pid: asyncio.Future[int] = loop.create_future()
        """Pid inside of the shell around the command."""
        self.ended: asyncio.Future[int | None] = loop.create_future()
        """Set once the command has ended, or the stream: its exit code, None where that is not known."""
        self.closed: asyncio.Future[None] = loop.create_future()
        """Set once the stream has ended."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self._receive(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        if self._held:
            self._unmarked(self._held)
        self._finish(None)
        with contextlib.suppress(asyncio.InvalidStateError):
            self.closed.set_result(None)

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self.writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        if not self.writable.done():
            self.writable.set_result(None)

    def write(self, data: bytes) -> None:
        """Give `data` to the process's standard input, in a while where it reads slowly: see `writable`."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def pause(self, seconds: float) -> None:
        """Read nothing for a while: whoever writes waits."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()
            asyncio.get_running_loop().call_later(seconds, self._transport.resume_reading)

    async def close(self) -> None:
        """Let go of the stream; the process lives on."""
        if self._transport is not None:
            self._transport.abort()
            await asyncio.shield(self.closed)

    def _head(self, data: bytes) -> None:
        self._rest += data
        head, end, rest = self._rest.partition(b"\r\n\r\n")
        if not end:
            return
        status = head.split(b" ", 2)[1]
        if status not in (b"101", b"200"):  # what went wrong follows, and all of it is there or not worth waiting for
            self._unmarked(rest)
            self._finish(None)
            return
        self._rest = b""
        self._receive = self._body
        self._receive(rest)

    def _frames(self, data: bytes) -> None:
        data = self._rest + data
        start = 0
        while len(data) - start >= _HEADER:
            end = start + _HEADER + int.from_bytes(data[start + 4 : start + _HEADER], "big")
            if end > len(data):
                break
            self._sinks[data[start]](data[start + _HEADER : end])
            start = end
        self._rest = data[start:]

    def _split(self, data: bytes) -> None:
        """Take the messages out of what the process wrote."""
        data = self._held + data
        self._held = b""
        while (begin := data.find(self._begins)) >= 0:
            end = data.find(b"\0", begin + len(self._begins))
            if end < 0:
                if len(data) - begin < _LONGEST_MESSAGE:
                    data, self._held = data[:begin], data[begin:]
                break
            if begin:
                self._unmarked(data[:begin])
            self._hear(data[begin + len(self._begins) : end])
            data = data[end + 1 :]
        else:
            cut = data.rfind(b"\0", max(0, len(data) - len(self._begins)))
            if cut >= 0 and self._begins.startswith(data[cut:]):
                data, self._held = data[:cut], data[cut:]
        if data:
            self._unmarked(data)

    def _hear(self, message: bytes) -> None:
        kind, _, value = message.partition(b" ")
        if kind in (b"begin", b"end") and not (value.isdigit() and len(value) < 10):
            return  # forged by the command: it ran in a shell that knew the mark
        if kind == b"begin" and not self.pid.done():
            self.pid.set_result(int(value))
        elif kind == b"end":
            self._finish(int(value))
        else:
            self._message(message + b"\0")

    def _finish(self, code: int | None) -> None:
        if not self.ended.done():
            self.ended.set_result(code)
