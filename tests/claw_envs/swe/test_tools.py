"""The tools of a repair: schemas, examples, and what is refused before anything runs."""

import json
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.swe.tools import OPTIONAL, TOOLS, Bash, Edit, Submit, View, Write, toolset
from claw_envs.wire.calls import Malformed
from claw_envs.wire.toolset import Call

ALL = toolset(True)


def tag(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


READABLE = {
    "thought and a block": ("THOUGHT: I look first.\n\n```bash\nls\n```", Call(Bash("ls"))),
    "sh": ("```sh\nls\n```", Call(Bash("ls"))),
    "submit": ("All done.\n```bash\nsubmit\n```", Call(Submit())),
    "submit as a tool": (tag("submit"), Call(Submit())),
    "bash as a tool": (tag("bash", command="ls\nsubmit"), Call(Bash("ls\nsubmit"))),
    "view": (tag("view_file", path="a.py"), Call(View("a.py"))),
    "view a part": (tag("view_file", path="a.py", start=3, end=3), Call(View("a.py", 3, 3))),
    "edit": (tag("edit_file", path="a.py", old="x\n", new=""), Call(Edit("a.py", "x\n", ""))),
    "write": (tag("write_file", path="a.py", content=""), Call(Write("a.py", ""))),
    "openai": (
        {"content": "", "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}]},
        Call(Bash("ls"), "c"),
    ),
}
MALFORMED = {
    "empty": ("", "was empty"),
    "no block": ("THOUGHT: ls", "no command"),
    "two blocks": ("```bash\nls\n```\n```bash\nsubmit\n```", "2 bash blocks"),
    "an unknown tool": (
        tag("run_command", command="ls"),
        "the tools are bash, view_file, edit_file, write_file, submit",
    ),
    "a time-out": (tag("bash", command="ls", timeout=5), "unknown field `timeout`. It takes command."),
    "no command": (tag("bash", command=" \n"), "command was empty"),
    "no path": (tag("view_file", path=" "), "`path` was empty"),
    "line 0": (tag("view_file", path="a", start=0), ">= 1"),
    "the end before the start": (tag("view_file", path="a", start=5, end=4), "`end` is 4, before `start`, which is 5"),
    "nothing to replace": (tag("edit_file", path="a", old="", new="x"), "`old` was empty"),
    "nothing that changes": (tag("edit_file", path="a", old="x", new="x"), "are the same"),
    "zero byte": (tag("write_file", path="a", content="\0"), "`content` holds a NUL"),
    "half a surrogate pair": ("```bash\nls \ud800\n```", "surrogate"),
}


@pytest.mark.parametrize(("action", "call"), READABLE.values(), ids=READABLE)
def test_what_can_be_read(action: Any, call: Call[Any]) -> None:
    assert ALL.parse(action) == [call]


@pytest.mark.parametrize(("action", "said"), MALFORMED.values(), ids=MALFORMED)
def test_what_cannot_be_read_is_explained(action: Any, said: str) -> None:
    [call] = ALL.parse(action)
    assert isinstance(call.tool, Malformed)
    assert said in call.tool.problem
    assert call.tool.problem.encode()


@pytest.mark.parametrize("name", TOOLS)
def test_each_tool_is_described_and_its_example_can_be_read(name: str) -> None:
    functions = {schema["function"]["name"]: schema["function"] for schema in ALL.schemas}
    assert functions[name]["description"]
    assert isinstance(ALL.parse(ALL.example(name))[0].tool, TOOLS[name][0])


def test_tools_are_chosen() -> None:
    def names(chosen: Any) -> list[str]:
        return [schema["function"]["name"] for schema in toolset(chosen).schemas]

    assert names(True) == list(TOOLS)
    assert names(False) == names([]) == ["bash", "submit"]
    assert names(OPTIONAL) == list(TOOLS)
    assert names(["edit_file"]) == ["bash", "edit_file", "submit"]
    [call] = toolset(False).parse(tag("view_file", path="a"))
    assert call.tool == Malformed("There is no tool 'view_file'; the tools are bash, submit.")


@pytest.mark.parametrize("chosen", ["edit_file", ["telepathy"], ["edit_file", "bash"]])
def test_tools_that_do_not_exist(chosen: Any) -> None:
    with pytest.raises(UserError, match="tools takes true, false or a list of view_file, edit_file, write_file"):
        toolset(chosen)
