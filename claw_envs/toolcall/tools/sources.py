"""From what a user calls a tool to what brings the tools of an episode."""

import shlex
from collections.abc import Sequence
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.lookup import lookup
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.tools.base import Tool, ToolSource
from claw_envs.toolcall.tools.function import FunctionTool
from claw_envs.toolcall.tools.mcp import McpServer, McpTools

_KINDS = '"python", "module:function", "mcp:URL or command", a Python function, a Tool, an McpServer, or a ToolSource'


class FixedTools:
    """A `ToolSource` of tools that are the same in every episode."""

    uses_sandbox = False

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = list(tools)

    async def start(self, lease: Lease) -> list[Tool]:
        """See `ToolSource.start`."""
        return list(self._tools)

    async def close(self) -> None:
        """See `ToolSource.close`."""


def open_sources(tools: Sequence[Any]) -> list[ToolSource]:
    """Where an environment's tools come from, in the order given. Nothing is started yet.

    Args:
        tools: each `"python"` (an interpreter in the sandbox), a Python function, a `Tool`, a `ToolSource` (a
            class is called without arguments, so that each environment has its own), an `McpServer`,
            `"mcp:http://..."` or `"mcp:command line"`, a list of these, or `"module:name"` of any of these.

    Raises:
        UserError: if one is none of these, or cannot be had.
    """
    return [source for tool in tools for source in _sources(tool)]


def _sources(tool: Any) -> list[ToolSource]:
    if isinstance(tool, str):
        return _named(tool)
    if isinstance(tool, list | tuple):
        return open_sources(tool)
    if isinstance(tool, McpServer):
        return [McpTools(tool)]
    if isinstance(tool, ToolSource):
        return [tool() if isinstance(tool, type) else tool]
    if not isinstance(tool, type):
        if isinstance(tool, Tool):
            return [FixedTools([tool])]
        if callable(tool):
            return [FixedTools([FunctionTool(tool)])]
    if isinstance(tool, dict):
        raise UserError(f"a schema alone does nothing: give SchemaTool(schema, handler) for {tool!r:.200}")
    raise UserError(f"{tool!r:.200} is no tool; a tool is {_KINDS}")


def _named(name: str) -> list[ToolSource]:
    if name == "python":
        from claw_envs.toolcall.interpreter.tool import PythonTools

        return [PythonTools()]
    kind, _, rest = name.partition(":")
    if kind == "mcp":
        web = rest.startswith(("http://", "https://"))
        return [McpTools(McpServer(url=rest) if web else McpServer(command=_split(rest)))]
    if ":" not in name:
        raise UserError(f"there is no tool {name!r}; a tool is {_KINDS}")
    found = lookup(name, extra="toolcall")
    if isinstance(found, str):
        raise UserError(f"{name} is a text, no tool; a tool is {_KINDS}")
    return _sources(found)


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UserError(f"mcp:{command}: the command line cannot be read: {error}") from error
