"""Which MCP server, and how it is reached."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from claw_envs.core.errors import UserError


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """An MCP server, to be given as a tool. Every environment has a connection of its own.

    >>> McpServer(command=["uvx", "mcp-server-time"], tools=["get_current_time"]).label
    'uvx mcp-server-time'

    Raises:
        UserError: if it is not either a command or a URL, or `tools` is no list.
    """

    command: Sequence[str] | None = None
    """Program and arguments of a server that speaks over its standard streams; each connection starts one."""
    env: dict[str, str] = {}
    """Variables of the command, beside PATH, HOME, USER and the like."""
    cwd: str | Path | None = None
    """Working directory of the command."""
    url: str | None = None
    """Address of a server that speaks streamable HTTP."""
    headers: dict[str, str] = {}
    """HTTP headers of each request, such as `Authorization`."""
    sse: bool = False
    """Whether the URL is of the older HTTP with SSE."""
    tools: Sequence[str] | None = None
    """The tools to offer, by the server's names; None: all that it lists when an episode begins."""
    prefix: str = ""
    """Put before each tool's name, where two servers have tools of one name."""
    per_episode: bool = False
    """Whether each episode has a connection of its own; else the server's state goes on from one to the next."""
    start_timeout: float = 30.0
    """Seconds to connect, and to list the tools."""

    def __post_init__(self) -> None:
        if (self.command is None) == (self.url is None):
            raise UserError(
                "an MCP server is either a command or a url: McpServer(command=[...]) or McpServer(url=...)"
            )
        if self.command is not None and (isinstance(self.command, str) or not self.command):
            raise UserError(f"command must be a list of program and arguments, got {self.command!r}")
        if isinstance(self.tools, str):
            raise UserError(f"tools must be a list of the server's names, got {self.tools!r}: write [{self.tools!r}]")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise UserError(f"url must begin with http:// or https://, got {self.url!r}")

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.url.partition("?")[0] if self.url is not None else " ".join(self.command or ())[:80]
