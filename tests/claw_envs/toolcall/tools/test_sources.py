"""What a user may give as a tool."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.interpreter.tool import PythonTools
from claw_envs.toolcall.tools import FunctionTool, McpServer, SchemaTool, Tool, ToolSource, open_sources
from claw_envs.toolcall.tools.mcp import McpTools

HERE = __name__


def add(a: int, b: int) -> int:
    return a + b


NOW = SchemaTool({"name": "now"}, lambda arguments: "noon")
MANY = [add, NOW]
TEXT = "python"


class Garden:
    """A source of the user's own."""

    async def start(self, lease: Lease) -> list[Tool]:
        return [NOW]

    async def close(self) -> None: ...


def names(*tools: Any) -> list[str]:
    """The tools' names, from sources that need no sandbox."""

    async def run() -> list[str]:
        return [tool.name for source in open_sources(tools) for tool in await source.start(Lease())]

    return asyncio.run(run())


def test_functions_tools_sources_and_lists_of_them() -> None:
    assert names(add, NOW) == ["add", "now"]
    assert names(Garden(), FunctionTool(add, name="plus")) == ["now", "plus"]
    assert names([add, [NOW]]) == ["add", "now"]
    assert names() == []


def test_a_class_of_sources_gives_each_environment_its_own() -> None:
    one, other = open_sources([Garden, Garden])
    assert isinstance(one, Garden)
    assert one is not other


def test_anything_by_its_dotted_name() -> None:
    assert names(f"{HERE}:add", f"{HERE}:NOW") == ["add", "now"]
    assert names(f"{HERE}:MANY") == ["add", "now"]


def test_the_interpreter_and_servers_are_opened_but_not_started() -> None:
    sources = open_sources(["python", "mcp:no-such-server 'with one argument'", "mcp:https://b.example/mcp"])
    assert [type(source) for source in sources] == [PythonTools, McpTools, McpTools]
    assert all(isinstance(source, ToolSource) for source in sources)
    server = McpServer(command=["a"])
    one, other = open_sources([server, server])
    assert one is not other


@pytest.mark.parametrize(
    ("tool", "problem"),
    [
        ("pyhton", "there is no tool 'pyhton'; a tool is \"python\", "),
        (7, "7 is no tool; a tool is "),
        (int, "is no tool"),
        ({"type": "function", "function": {"name": "now"}}, r"give SchemaTool\(schema, handler\)"),
        ("no_such_module:f", "there is no module no_such_module"),
        ("math:no_such_function", "math has no no_such_function"),
        (f"{HERE}:TEXT", "is a text, no tool"),
        ("mcp:", "must be a list of program and arguments"),
        ("mcp:a 'b", "the command line cannot be read"),
    ],
)
def test_anything_else_is_the_users_mistake(tool: Any, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        open_sources([tool])


LIGHT = """
import sys
import claw_envs.toolcall.tools
print({"mcp", "jsonschema", "pydantic", "httpx2", "anyio"} & sys.modules.keys())
"""
LACKING = """
import asyncio, sys
sys.modules[sys.argv[1]] = None
from claw_envs.core.errors import UserError
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.tools import McpServer, SchemaTool, open_sources
try:
    if sys.argv[1] == "mcp":
        asyncio.run(open_sources([McpServer(command=["a"])])[0].start(Lease()))
    SchemaTool({"name": "now"}, print)
except UserError as error:
    print(error)
"""


def output(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.strip()


def test_importing_the_tools_is_light() -> None:
    assert output(LIGHT) == "set()"


@pytest.mark.parametrize(("package", "extra"), [("mcp", "mcp"), ("jsonschema", "toolcall")])
def test_a_missing_package_is_told_with_the_extra_that_brings_it(package: str, extra: str) -> None:
    assert f'pip install "claw-envs[{extra}]"' in output(LACKING, package)
