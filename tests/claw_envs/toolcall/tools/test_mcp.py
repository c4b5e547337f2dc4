"""MCP servers: real ones, made with the official package, over each transport and both ages of the protocol."""

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.tools.base import Tool
from claw_envs.toolcall.tools.mcp import McpServer, McpTools

pytest.importorskip("mcp")

SERVER = str(Path(__file__).with_name("mcp_server.py"))
TRANSPORTS = ["stdio", "stdio-2025", "http", "sse"]
PATIENT = 60.0


@contextlib.contextmanager
def serving(transport: str, **options: Any) -> Iterator[McpServer]:
    """The test server over `transport`; a command is started by whoever connects."""
    command = [sys.executable, SERVER, transport]
    if transport.startswith("stdio"):
        yield McpServer(command=command, **options)
        return
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            path = "mcp" if transport == "http" else "sse"
            yield McpServer(url=f"http://127.0.0.1:{port}/{path}", sse=transport == "sse", **options)
        finally:
            process.kill()


def with_tools(server: McpServer, use: Callable[[McpTools, dict[str, Tool]], Coroutine[Any, Any, None]]) -> None:
    """Run `use` with a source and the tools of its first episode."""

    async def run() -> None:
        source = McpTools(server)
        try:
            await use(source, by_name(await source.start(Lease())))
        finally:
            await source.close()

    asyncio.run(run())


def by_name(tools: list[Tool]) -> dict[str, Tool]:
    return {tool.name: tool for tool in tools}


async def text(tool: Tool, **arguments: Any) -> str:
    result = await tool.call(arguments, timeout=PATIENT)
    assert not result.error
    return result.text


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_tools_of_every_page_are_listed_and_called(transport: str) -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        assert {"add", "refuse", "pid"} <= tools.keys()
        function = tools["add"].schema["function"]
        assert (function["name"], function["description"]) == ("add", "Add two integers.")
        assert function["parameters"]["properties"] == {"a": {"type": "integer"}, "b": {"type": "integer"}}
        assert tools["add"].check({"a": 1, "b": 2}) is None
        assert await text(tools["add"], a=1, b=2) == "3"

    with serving(transport) as server:
        with_tools(server, use)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_call_that_takes_too_long_is_cancelled_on_the_server(transport: str) -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        result = await tools["hang"].call({}, timeout=0.5)
        assert (result.error, result.head) == (True, "stopped after 0.5 s")
        assert await text(tools["saw"], event="cancelled") == "yes"
        assert await text(tools["add"], a=1, b=2) == "3"

    with serving(transport) as server:
        with_tools(server, use)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_caller_that_is_cancelled_cancels_the_call_on_the_server(transport: str) -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        call = asyncio.create_task(tools["hang"].call({}, timeout=PATIENT))
        assert await text(tools["saw"], event="hanging") == "yes"  # while the other hangs
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await text(tools["saw"], event="cancelled") == "yes"

    with serving(transport) as server:
        with_tools(server, use)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_that_dies_in_a_call_is_infrastructure_and_the_next_episode_gets_another(transport: str) -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        wrote = "out of flour" if transport.startswith("stdio") else ""
        with pytest.raises(InfrastructureError, match=rf"^MCP server .*: crash: .*{wrote}"):
            await tools["crash"].call({}, timeout=PATIENT)
        with pytest.raises(InfrastructureError):
            await tools["add"].call({"a": 1, "b": 2}, timeout=PATIENT)
        if transport.startswith("stdio"):
            again = by_name(await source.start(Lease()))
            assert await text(again["add"], a=1, b=2) == "3"
        else:
            with pytest.raises(InfrastructureError, match="no connection"):
                await source.start(Lease())

    with serving(transport) as server:
        with_tools(server, use)


def test_every_kind_of_content_is_told_as_text() -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        assert await text(tools["structured"]) == '{"city": "Rome", "high": 31}'
        assert (await text(tools["mixed"])).splitlines() == [
            "a picture:",
            "[image image/png, 5 bytes]",
            "[resource notes: file:///notes.txt]",
            "inside",
        ]

    with serving("stdio") as server:
        with_tools(server, use)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_errors_that_a_server_reports_are_results(transport: str) -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        told = {"fail": "the oven is cold", "refuse": "no such city", "broken": "the server is confused"}
        for name, problem in told.items():
            result = await tools[name].call({}, timeout=PATIENT)
            assert (result.error, result.text) == (True, problem)
        assert await text(tools["add"], a=1, b=2) == "3"

    with serving(transport) as server:
        with_tools(server, use)


def test_a_result_that_is_not_as_the_tool_promised_is_an_error_of_the_call() -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        result = await tools["promised"].call({}, timeout=PATIENT)
        assert result.error
        assert "not as the server promised" in result.text
        assert await text(tools["add"], a=1, b=2) == "3"

    with serving("stdio") as server:
        with_tools(server, use)


def test_arguments_are_checked_before_they_are_sent() -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        assert tools["add"].check({"a": 1}) == ("the argument `b` is missing. It takes a (integer), b (integer).")
        assert "argument `a`: 'x' is not of type 'integer'" in str(tools["add"].check({"a": "x", "b": 2}))
        assert "no argument `c`" in str(tools["add"].check({"a": 1, "b": 2, "c": 3}))

    with serving("stdio") as server:
        with_tools(server, use)


@pytest.mark.parametrize(("per_episode", "counts"), [(False, ["1", "2"]), (True, ["1", "1"])])
def test_a_connection_is_kept_between_episodes_unless_told_otherwise(per_episode: bool, counts: list[str]) -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        first = await text(tools["count"])
        assert [first, await text(by_name(await source.start(Lease()))["count"])] == counts

    with serving("stdio", per_episode=per_episode) as server:
        with_tools(server, use)


def test_a_tool_that_a_server_gains_is_there_in_the_next_episode() -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        assert "grown" not in tools
        await text(tools["grow"])
        assert await text(by_name(await source.start(Lease()))["grown"]) == "yes"

    with serving("stdio") as server:
        with_tools(server, use)


def test_two_environments_have_servers_of_their_own() -> None:
    async def run() -> None:
        with serving("stdio") as server:
            sources = [McpTools(server), McpTools(server)]
            try:
                tools = [by_name(await source.start(Lease())) for source in sources]
                assert len({await text(each["pid"]) for each in tools}) == 2
            finally:
                for source in sources:
                    await source.close()

    asyncio.run(run())


def test_the_environment_is_only_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "ours")

    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        assert await text(tools["environment"], name="SECRET") == "unset"
        assert await text(tools["environment"], name="TOKEN") == "given"
        assert await text(tools["directory"]) == "/usr"

    with serving("stdio", env={"TOKEN": "given"}, cwd="/usr") as server:
        with_tools(server, use)


def test_a_choice_of_tools_and_a_prefix() -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        assert list(tools) == ["bakery_add"]
        assert tools["bakery_add"].schema["function"]["name"] == "bakery_add"
        assert await text(tools["bakery_add"], a=1, b=2) == "3"

    with serving("stdio", tools=["add"], prefix="bakery_") as server:
        with_tools(server, use)


# --- what cannot be had ---------------------------------------------------------------------------------------------


def started(server: McpServer) -> None:
    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        raise AssertionError("it was started")

    with_tools(server, use)


def test_a_tool_that_the_server_has_not_is_the_users_mistake() -> None:
    with serving("stdio", tools=["bake"]) as server, pytest.raises(UserError, match="no tool 'bake'; it has: add, "):
        started(server)


def test_a_program_that_is_not_there_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="no-such-server"):
        started(McpServer(command=["no-such-server"]))


def test_a_program_that_is_no_server_is_told_with_what_it_wrote() -> None:
    code = "import sys; sys.exit('the key is missing')"
    with pytest.raises(InfrastructureError, match="the key is missing"):
        started(McpServer(command=[sys.executable, "-c", code]))


def test_a_program_that_never_answers_is_given_up() -> None:
    with pytest.raises(InfrastructureError, match=r"did not answer within 0\.5 s"):
        started(McpServer(command=["sleep", "600"], start_timeout=0.5))


def test_nobody_at_an_address_is_infrastructure() -> None:
    with pytest.raises(InfrastructureError, match=r"^MCP server http://127.0.0.1:9/mcp: no connection"):
        started(McpServer(url="http://127.0.0.1:9/mcp?key=secret"))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "either a command or a url"),
        ({"command": ["a"], "url": "http://b"}, "either a command or a url"),
        ({"command": "a b"}, "must be a list"),
        ({"command": []}, "must be a list"),
        ({"command": ["a"], "tools": "price"}, r"write \['price'\]"),
        ({"url": "b.example"}, "must begin with http"),
    ],
)
def test_a_server_is_a_command_or_a_url(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        McpServer(**options)


# --- no server outlives us ------------------------------------------------------------------------------------------

HOLDS_A_SERVER = """
import asyncio, sys
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.tools.mcp import McpServer, McpTools

async def main():
    server = McpServer(command=[sys.executable, sys.argv[1], "stdio"], env={"STAYS": "1"})
    tools = {tool.name: tool for tool in await McpTools(server).start(Lease())}
    print((await tools["pid"].call({}, timeout=60)).text, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_a_server_dies_with_us_even_where_it_would_stay() -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS_A_SERVER, SERVER], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        server = os.pidfd_open(int(holder.stdout.readline()))
        holder.send_signal(signal.SIGKILL)
        ended, _, _ = select.select([server], [], [], PATIENT)
        os.close(server)
    assert ended


def test_a_server_that_would_stay_is_ended_by_close() -> None:
    pids: list[int] = []

    async def use(source: McpTools, tools: dict[str, Tool]) -> None:
        pids.append(int(await text(tools["pid"])))

    with serving("stdio", env={"STAYS": "1"}) as server:
        with_tools(server, use)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
