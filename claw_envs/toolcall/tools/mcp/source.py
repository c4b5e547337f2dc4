"""The tools of one MCP server, for one environment."""

import asyncio
import contextlib
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.tools.arguments import ArgumentCheck
from claw_envs.toolcall.tools.base import Tool, ToolResult
from claw_envs.toolcall.tools.mcp.content import told
from claw_envs.toolcall.tools.mcp.server import McpServer
from claw_envs.toolcall.tools.mcp.session import CallRefused, McpSession
from claw_envs.toolcall.tools.schema import function_schema
from claw_envs.toolcall.tools.text import bounded


class McpTools:
    """A `ToolSource`: the tools that a server lists when an episode begins.

    The connection is kept from one episode to the next, unless the server is `per_episode`; one that was lost in
    between is made anew. A server that is lost during an episode aborts it: its state is gone.
    """

    uses_sandbox = False

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._session: McpSession | None = None
        self._listed: list[Any] = []
        self._tools: list[Tool] = []

    async def start(self, lease: Lease) -> list[Tool]:
        """See `ToolSource.start`."""
        if self._server.per_episode:
            await self.close()
        if self._session is not None:
            with contextlib.suppress(InfrastructureError):  # lost since the last episode
                return await self._offered(self._session, anew=False)
            await self.close()
        self._session = session = McpSession(self._server)
        try:
            await session.open()
            return await self._offered(session, anew=True)
        except (InfrastructureError, UserError, asyncio.CancelledError):
            await self.close()
            raise

    async def close(self) -> None:
        """See `ToolSource.close`."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _offered(self, session: McpSession, *, anew: bool) -> list[Tool]:
        listed = await session.tools()
        if anew or listed != self._listed:
            self._tools, self._listed = self._chosen(session, listed), listed
        return list(self._tools)

    def _chosen(self, session: McpSession, listed: list[Any]) -> list[Tool]:
        wanted = self._server.tools
        names = [tool.name for tool in listed]
        if missing := [name for name in wanted or () if name not in names]:
            raise UserError(
                f"MCP server {self._server.label} has no tool {missing[0]!r}; it has: {', '.join(names) or 'none'}"
            )
        return [
            McpTool(session, tool, prefix=self._server.prefix)
            for tool in listed
            if wanted is None or tool.name in wanted
        ]


class McpTool:
    """A `Tool` of an MCP server."""

    def __init__(self, session: McpSession, tool: Any, *, prefix: str = "") -> None:
        """
        Args:
            session: where calls go.
            tool: as `mcp.types.Tool`.
            prefix: put before the server's name of the tool.

        Raises:
            UserError: if the server's schema of it is none.
        """
        self._session, self._theirs = session, tool.name
        self.name = prefix + tool.name
        self.schema = function_schema(self.name, tool.description or tool.title or "", tool.input_schema)
        self._arguments = ArgumentCheck(self.name, tool.input_schema)

    def check(self, arguments: dict[str, Any]) -> str | None:
        """See `Tool.check`."""
        return self._arguments.problem(arguments)

    async def call(self, arguments: dict[str, Any], *, timeout: float) -> ToolResult:
        """See `Tool.call`. A call that takes too long is cancelled, and the server told so."""
        try:
            async with asyncio.timeout(timeout) as limit:
                result = await self._session.call(self._theirs, arguments)
        except TimeoutError:
            if not limit.expired():
                raise
            return ToolResult("It took too long and was cancelled.", error=True, head=f"stopped after {timeout:.3g} s")
        except CallRefused as error:
            return ToolResult(bounded(str(error), 2000), error=True)
        return ToolResult(told(result), error=result.is_error)
