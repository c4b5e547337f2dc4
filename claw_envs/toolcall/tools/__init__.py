"""Tools for `claw/toolcall-v0`: Python functions, JSON schemas with a handler, MCP servers, the Python interpreter.

from claw_envs.toolcall.tools import FunctionTool, McpServer, SchemaTool, schema_tools
"""

from claw_envs.toolcall.tools.base import Tool, ToolResult, ToolSource
from claw_envs.toolcall.tools.function import FunctionTool
from claw_envs.toolcall.tools.handler import SchemaTool, schema_tools
from claw_envs.toolcall.tools.mcp import McpServer
from claw_envs.toolcall.tools.sources import open_sources
from claw_envs.toolcall.tools.toolbox import Toolbox

__all__ = [
    "FunctionTool",
    "McpServer",
    "SchemaTool",
    "Tool",
    "ToolResult",
    "ToolSource",
    "Toolbox",
    "open_sources",
    "schema_tools",
]
