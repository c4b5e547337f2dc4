"""Tools of MCP servers, through the official `mcp` package, which is imported when the first server is started."""

from claw_envs.toolcall.tools.mcp.server import McpServer
from claw_envs.toolcall.tools.mcp.source import McpTools

__all__ = ["McpServer", "McpTools"]
