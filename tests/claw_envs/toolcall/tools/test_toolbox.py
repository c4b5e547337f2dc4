"""A message's calls: carried out in order, within one time limit, whatever they ask for."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.results import Result
from claw_envs.toolcall.tools.base import Tool, ToolResult
from claw_envs.toolcall.tools.function import FunctionTool
from claw_envs.toolcall.tools.toolbox import Toolbox
from claw_envs.wire.calls import Call, Malformed

PATIENT = 60.0


def add(a: int, b: int = 1) -> int:
    return a + b


def fail() -> None:
    raise ValueError("the oven is cold")


class Own:
    """A tool of the user's own making, with a bug."""

    schema = {"type": "function", "function": {"name": "own", "description": "", "parameters": {"type": "object"}}}
    name = "own"

    def __init__(self, *, check: Exception | None = None, call: Exception | None = None) -> None:
        self._errors = check, call

    def check(self, arguments: dict[str, Any]) -> str | None:
        if self._errors[0]:
            raise self._errors[0]
        return None

    async def call(self, arguments: dict[str, Any], *, timeout: float) -> ToolResult:
        if self._errors[1]:
            raise self._errors[1]
        return ToolResult("fine", head="fine")


def run(tools: Sequence[Tool], calls: Sequence[Call | Malformed], timeout: float = PATIENT) -> list[Result]:
    return asyncio.run(Toolbox(tools).run(calls, timeout=timeout))


TOOLS = [FunctionTool(add), FunctionTool(fail)]


def test_every_call_gets_its_result_in_order() -> None:
    calls = [
        Call("add", {"a": 1}),
        Malformed("no closing tag"),
        Call("fail", {}),
        Call("add", {"a": "x"}),
        Call("add", {"a": 1, "b": 2}),
    ]
    assert run(TOOLS, calls) == [
        Result("ok", "2", 0),
        Result("not run", "no closing tag", ran=False),
        Result("error", "ValueError: the oven is cold", 1),
        Result(
            "not run",
            "add: argument `a`: Expected `int`, got `str`. It takes a (integer), b (integer, optional). "
            'Write: {"a": 1}',
            ran=False,
        ),
        Result("ok", "3", 0),
    ]


def test_calls_run_one_after_the_other() -> None:
    written: list[int] = []

    async def write(number: int) -> None:
        for _ in range(3 - number):
            await asyncio.sleep(0)
        written.append(number)

    run([FunctionTool(write)], [Call("write", {"number": number}) for number in range(3)])
    assert written == [0, 1, 2]


def test_all_calls_share_the_time() -> None:
    leave = threading.Event()

    def hang() -> None:
        leave.wait(PATIENT)

    stopped, late = run([*TOOLS, FunctionTool(hang)], [Call("hang", {}), Call("add", {"a": 1})], timeout=0.05)
    leave.set()
    assert stopped.head.startswith("stopped after 0.05")
    assert (stopped.exit_code, stopped.ran) == (1, True)
    assert late == Result("not run", "this message's time was used up; send it again", ran=False)


def test_a_form_without_types_has_its_texts_read() -> None:
    def take(text: str, number: int, flag: bool, items: list[int], maybe: int | None) -> str:
        return repr((text, number, flag, items, maybe))

    arguments = {"text": "7", "number": "7", "flag": "True", "items": "[1, 2]", "maybe": "null"}
    tools = [FunctionTool(take)]
    assert run(tools, [Call("take", arguments, typed=False)])[0].text == "('7', 7, True, [1, 2], None)"
    assert "Expected `int`, got `str`" in run(tools, [Call("take", arguments)])[0].text
    assert "Expected `int`, got `str`" in run(tools, [Call("take", {**arguments, "number": "7 "}, typed=True)])[0].text
    assert "Expected `int`" in run(tools, [Call("take", {**arguments, "number": "seven"}, typed=False)])[0].text


def test_an_unknown_tool_is_told_with_those_that_exist() -> None:
    (result,) = run(TOOLS, [Call("ad", {})])
    assert result == Result("not run", "there is no tool 'ad'; the tools are add, fail. Did you mean add?", ran=False)
    assert run(TOOLS, [Call("xyz", {})])[0].text == "there is no tool 'xyz'; the tools are add, fail."
    assert run([], [Call("add", {})])[0].text == "there are no tools here"


def test_a_hostile_name_is_told_shortly() -> None:
    text = run(TOOLS, [Call("a\n" * 1_000_000, {})])[0].text
    assert "\n" not in text
    assert len(text) < 500


@pytest.mark.parametrize("bug", ["check", "call"])
def test_a_bug_in_a_users_tool_is_an_error_and_infrastructure_is_not(bug: str) -> None:
    assert run([Own(**{bug: KeyError("x")})], [Call("own", {})]) == [Result("error", "KeyError: 'x'", 1)]
    with pytest.raises(InfrastructureError):
        run([Own(**{bug: InfrastructureError("gone")})], [Call("own", {})])


def test_a_tools_own_head_is_shown() -> None:
    assert run([Own()], [Call("own", {})]) == [Result("fine", "fine", 0)]


def test_two_tools_of_one_name_are_the_users_mistake() -> None:
    with pytest.raises(UserError, match=r"repeated: add$"):
        Toolbox([*TOOLS, FunctionTool(add)])


def test_the_schemas_are_in_order() -> None:
    assert [schema["function"]["name"] for schema in Toolbox(TOOLS).schemas] == ["add", "fail"]
