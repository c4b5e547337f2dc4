"""A sandbox without a network, its proxy, and a host on the owner's loopback that keeps what it was sent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest

from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.egress import Egress
from claw_envs.sandbox.namespace.backend import NamespaceSandbox

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
EXCHANGE = """
import socket, sys
with socket.create_connection(("127.0.0.1", 3128), 30) as s:
    s.sendall(sys.stdin.buffer.read())
    while data := s.recv(65536):
        sys.stdout.buffer.write(data)
"""
NO_EXCEPTIONS = {"no_proxy": "", "NO_PROXY": ""}
"""The host under test is on a loopback, though not on the sandbox's."""


class Site:
    """Answers every connection alike, once it has the headers, and a chunked body whole."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.received: list[bytearray] = []
        """What each connection sent."""
        self.reached = asyncio.Event()
        """Set when a request has come."""
        self.ended = asyncio.Event()
        """Set when a connection has ended."""

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.received.append(bytearray())
        received, answered = self.received[-1], False
        try:
            while data := await reader.read(65536):
                received += data
                head, end, _ = received[:16384].partition(b"\r\n\r\n")
                chunked = b"transfer-encoding: chunked" in head.lower()
                if end and not answered and (not chunked or received.endswith(b"\r\n0\r\n\r\n")):
                    answered = True
                    self.reached.set()
                    writer.write(self.answer)
        except ConnectionError:
            pass
        finally:
            self.ended.set()
            writer.close()


class World(NamedTuple):
    """What a test acts in."""

    sandbox: NamespaceSandbox
    egress: Egress
    site: Site

    async def ask(self, request: str | bytes) -> bytes:
        """Send raw bytes to the proxy as the agent; all that comes back. `PORT` stands for the site's."""
        data = request.encode() if isinstance(request, str) else request
        data = data.replace(b"PORT", b"%d" % self.site.port)
        return (await self.python(EXCHANGE, stdin=data)).output.encode()

    async def python(self, script: str, *, stdin: bytes = b"") -> ExecResult:
        """Run a script as the agent."""
        return await self.sandbox.exec(["/usr/bin/python3", "-c", script], timeout=60, stdin=stdin)

    async def sh(self, command: str) -> ExecResult:
        """Run a command as the agent, with the variables that name the proxy."""
        line = command.replace("PORT", str(self.site.port))
        env = self.egress.env | NO_EXCEPTIONS
        return await self.sandbox.exec(["/bin/bash", "-c", line], timeout=60, env=env)


@pytest.fixture
def world(in_sandbox: Callable[..., Any]) -> Callable[..., Any]:
    """`world(body, *hosts, answer=…)`: run `await body(world)`; `PORT` in a host stands for the site's."""

    def run(body: Callable[[World], Awaitable[Any]], *hosts: str, answer: bytes = HELLO) -> Any:
        async def main(sandbox: NamespaceSandbox) -> Any:
            site = Site(answer)
            async with await site.start():
                egress = Egress(tuple(host.replace("PORT", str(site.port)) for host in hosts))
                await egress.start(sandbox._holder.pid)
                try:
                    return await body(World(sandbox, egress, site))
                finally:
                    await egress.close()

        return in_sandbox(main)

    return run
