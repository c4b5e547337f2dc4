"""One driver in a sandbox and the terminal to it: a request goes in, its answer comes out, or nobody answers.

Whatever the agent's code writes to that terminal, or takes from it, is at most taken for the answer to its own call:
each has a token of its own. What does not fit is dropped, and too much of it ends the line.
"""

import asyncio
import contextlib
import functools
import re
import secrets
import shlex
from pathlib import Path
from typing import NamedTuple, NoReturn

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.base import Sandbox, Terminal
from claw_envs.sandbox.process.child import first_of

READY_TIMEOUT = 10.0
SPARE = 5.0
"""Seconds beyond a call's own limit after which its driver is taken to be stuck. It needs one to stop the code."""
_SURPLUS = 1 << 16
"""Bytes beside an answer that a line takes."""
_HEAD = re.compile(rb"([a-z]{1,20}) (-?\d{1,9}) ([01]) (\d{1,18}) (\d{1,9}) (\d{1,9})\n")
"""What follows the token in an answer's first line."""
_NO_PYTHON = 127
"""Exit code of a shell that finds no such program."""


class Reply(NamedTuple):
    """An answer of the driver's; see there."""

    kind: str
    code: int
    fresh: bool
    missing: int
    head: bytes
    tail: bytes


@functools.cache
def _source(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class Line:
    """Use `Line.open`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._terminal: Terminal | None = None
        self._held = bytearray()
        self._token = b""
        self._reply: asyncio.Future[Reply]
        self._closing: asyncio.Future[None] | None = None
        self._expect()

    @classmethod
    async def open(cls, sandbox: Sandbox) -> "Line":
        """Start a driver and wait until it is ready.

        Raises:
            InfrastructureError: if it cannot be started.
            UserError: if the sandbox has no Python.
        """
        spec = sandbox.spec
        line = cls(spec.output_bytes)
        numbers = (spec.output_bytes, spec.memory_mb << 20, max(1, round(spec.cpus)))
        words = ["python3", "-I", "-c", _source("driver.py"), line._token.decode(), *map(str, numbers)]
        command = f"exec {shlex.join([*words, _source('worker.py')])}"
        line._terminal = terminal = await sandbox.terminal(command, sink=line._feed)
        try:
            await first_of(line._reply, terminal.ended, timeout=READY_TIMEOUT)
            if not line._reply.done():
                line._explain(terminal)
        except BaseException:
            await line.close()
            raise
        return line

    def _explain(self, terminal: Terminal) -> NoReturn:
        """Raise what there is to say of a driver that is not ready."""
        said = bytes(self._held[-2000:]).decode(errors="replace").strip() or "no answer"
        if terminal.ended.done() and terminal.ended.result() == _NO_PYTHON:
            raise UserError(f"the tool `python` needs python3 in the sandbox's image: {said}")
        raise InfrastructureError(f"no interpreter could be started: {said}")

    @property
    def alive(self) -> bool:
        """Whether somebody would answer, as far as is known."""
        return self._terminal is not None and self._closing is None and not self._terminal.ended.done()

    async def ask(self, code: str, *, timeout: float) -> Reply | None:
        """Have `code` run for `timeout` seconds at most; None where nobody answers."""
        assert self._terminal is not None
        self._expect()
        data = code.encode("utf-8", "surrogatepass")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout + SPARE):
                await self._terminal.write(b"%s %f %d\n" % (self._token, timeout, len(data)) + data)
                await first_of(self._reply, self._terminal.ended)
        return self._reply.result() if self._reply.done() else None

    async def close(self) -> None:
        """Kill the driver with what descends from it. May be called again."""
        self._end()
        if self._closing is not None:
            await asyncio.shield(self._closing)

    def _end(self) -> None:
        self._held.clear()
        if self._closing is None and self._terminal is not None:
            self._closing = asyncio.ensure_future(self._terminal.close())

    def _expect(self) -> None:
        self._held.clear()
        self._token = secrets.token_hex(8).encode()
        self._reply = asyncio.get_running_loop().create_future()

    def _feed(self, data: bytes) -> None:
        if self._closing is not None:
            return
        self._held += data
        if not self._reply.done() and (reply := _read(self._held, self._token)) is not None:
            self._held.clear()
            self._reply.set_result(reply)
        elif len(self._held) > self._limit + _SURPLUS:
            self._end()


def _read(held: bytearray, token: bytes) -> Reply | None:
    """The answer to the request of `token`, once all of it is there."""
    mark = b"\0%s " % token
    at = held.find(mark)
    begin = _HEAD.match(held, at + len(mark)) if at >= 0 else None
    if begin is None:
        return None
    code, fresh, missing, head, tail = map(int, begin.groups()[1:])
    start = begin.end()
    if len(held) < start + head + tail:
        return None
    content = bytes(held[start : start + head + tail])
    return Reply(begin[1].decode(), code, bool(fresh), missing, content[:head], content[head:])
