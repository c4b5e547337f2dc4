"""One connection to an MCP server: over its standard streams, streamable HTTP, or the older HTTP with SSE.

The official client must be entered and left in one task, so the connection lives in a task of its own; calls may come
from any task of the loop. What a server asks of us (sampling, elicitation, roots) is refused; progress and log
messages are ignored.
"""

import asyncio
import contextlib
import math
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from typing import Any, TextIO

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.toolcall.tools.mcp.server import McpServer
from claw_envs.toolcall.tools.text import inline

_MAX_PAGES = 100
_CLOSING = 15.0
"""Seconds to end a connection; the client itself kills a server that does not go by itself after 4."""
_LAST_WORDS = 2000
"""Bytes of a server's stderr that are kept to explain its end."""
_REFUSED = (-32602, -32042)
"""Invalid params, and a page that a person would have to open: these are about the call, whatever the connection is."""
_RESERVED = range(-32768, -31999)
"""Codes of JSON-RPC and MCP; any other is the server's own."""


class CallRefused(Exception):  # noqa: N818 - the server's answer, not a fault
    """The server does not carry out this call."""


class McpSession:
    """A live connection. Use on one event loop."""

    def __init__(self, server: McpServer) -> None:
        try:
            from mcp import Client, MCPError
        except ImportError as error:
            raise UserError('MCP servers need mcp 2 or newer: pip install "claw-envs[mcp]"') from error
        self._make_client, self._error = Client, MCPError
        self._server = server
        self._stderr = bytearray()
        self._leave = asyncio.Event()
        self._client: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect.

        Raises:
            InfrastructureError: if the server does not answer.
            UserError: if its program does not exist.
        """
        self._task = asyncio.create_task(self._live())
        try:
            async with asyncio.timeout(self._server.start_timeout):
                await asyncio.shield(self._client)
        except TimeoutError as error:
            await self.close()
            raise self._lost(f"did not answer within {self._server.start_timeout:g} s") from error
        except asyncio.CancelledError:
            await self.close()
            raise

    async def tools(self) -> list[Any]:
        """What the server offers now, as `mcp.types.Tool`.

        Raises:
            InfrastructureError: if it cannot be asked.
        """
        client = await self._connected()
        found: list[Any] = []
        cursor = None
        try:
            async with asyncio.timeout(self._server.start_timeout):
                for _ in range(_MAX_PAGES):
                    page = await client.list_tools(cursor=cursor)
                    found += page.tools
                    cursor = page.next_cursor
                    if not cursor:
                        return found
        except (self._error, RuntimeError, ValueError, TimeoutError) as error:
            raise self._lost(f"its tools could not be listed: {_message(error)}") from error
        raise self._lost(f"listed more than {_MAX_PAGES} pages of tools")

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """The server's `CallToolResult`; cancelling this tells the server so.

        Raises:
            CallRefused: if the server answers with an error and is still there.
            InfrastructureError: if it is gone, or does not keep to the protocol.
        """
        client = await self._connected()
        try:
            return await client.call_tool(name, arguments)
        except self._error as error:
            if error.code in _RESERVED and error.code not in _REFUSED:
                await self._check_lives(name, error)
            raise CallRefused(error.message) from error
        except (RuntimeError, ValueError) as error:  # a result that is not as the protocol or the schema has it
            await self._check_lives(name, error)
            raise CallRefused(f"the result is not as the server promised: {_message(error)}") from error

    async def _check_lives(self, name: str, error: Exception) -> None:
        """Make sure that `error` was the call's and not the connection's, which no agent must be able to feign."""
        try:
            await self.tools()
        except InfrastructureError:
            raise self._lost(f"{name}: {_message(error)}") from error

    async def close(self) -> None:
        """End the connection, and the server where it is our child. May be called again."""
        self._leave.set()
        if self._task is None:
            return
        if not self._client.done():
            self._task.cancel()  # it still connects
        await asyncio.wait({self._task}, timeout=_CLOSING)
        self._task.cancel()  # does nothing where it is done

    async def _connected(self) -> Any:
        if self._task is None or self._task.done():
            raise self._lost("the connection has ended")
        return await self._client

    def _lost(self, what: str) -> InfrastructureError:
        """The error that says what became of the server, with its last words."""
        words = self._stderr.decode("utf-8", "replace").strip()
        return InfrastructureError(
            f"MCP server {self._server.label}: {what}" + (f"; it wrote: {words}" if words else "")
        )

    # --- the connection's own task ------------------------------------------------------------------------------

    async def _live(self) -> None:
        try:
            async with self._transport() as transport, self._make_client(transport, cache=None) as client:
                self._client.set_result(client)
                await self._leave.wait()
        except Exception as error:  # errors of all the libraries below, in groups: each means that the connection ended
            if not self._client.done():
                self._client.set_exception(self._unreachable(error))
        finally:
            if not self._client.done():
                self._client.set_exception(self._lost("the connection has ended"))
            self._client.exception()  # whoever waited is told; nobody else needs to know

    def _unreachable(self, error: Exception) -> Exception:
        if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError):
            return UserError(f"MCP server {self._server.label} cannot be started: {error.strerror}: {error.filename}")
        return self._lost(f"no connection: {_message(error)}")

    @contextlib.asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        server = self._server
        if server.command is not None:
            with self._last_words() as stderr:
                yield self._stdio(list(server.command), stderr)
        elif server.sse:
            from mcp.client.sse import sse_client

            yield sse_client(str(server.url), headers=server.headers, sse_read_timeout=math.inf)
        else:
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            timeout = httpx2.Timeout(server.start_timeout, read=None)  # a call's time limit is set by whoever calls
            async with httpx2.AsyncClient(headers=server.headers, timeout=timeout) as http:
                yield streamable_http_client(str(server.url), http_client=http)

    def _stdio(self, command: list[str], stderr: TextIO) -> Any:
        """The transport of a child process, which the kernel kills when we die."""
        from mcp.client.stdio import StdioServerParameters, stdio_client

        if shutil.which(command[0], path=self._server.env.get("PATH")) is None:
            raise FileNotFoundError(2, "there is no such program", command[0])
        if setpriv := shutil.which("setpriv"):
            command = [setpriv, "--pdeathsig", "KILL", *command]
        parameters = StdioServerParameters(
            command=command[0], args=command[1:], env=self._server.env, cwd=self._server.cwd
        )
        return stdio_client(parameters, errlog=stderr)

    @contextlib.contextmanager
    def _last_words(self) -> Iterator[TextIO]:
        """Where a child's stderr goes: its end is kept."""
        loop = asyncio.get_running_loop()
        reading, writing = os.pipe()
        os.set_blocking(reading, False)

        def read() -> None:
            if data := os.read(reading, 65536):
                self._stderr += data
                del self._stderr[:-_LAST_WORDS]
            else:
                loop.remove_reader(reading)

        loop.add_reader(reading, read)
        try:
            with os.fdopen(writing, "w") as stderr:
                yield stderr
        finally:
            loop.remove_reader(reading)
            os.close(reading)


def _message(error: BaseException) -> str:
    """The first of the errors in a group, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return inline(error, 500) or type(error).__name__
