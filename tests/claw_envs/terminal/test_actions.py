"""Every form of the agent's message, and every way to get it wrong."""

import json
import string
from typing import Any

import pytest

from claw_envs.terminal.actions import TOOL_SCHEMAS, Finish, Malformed, Run, Write, parse


def tool_call(name: str, arguments: Any, call_id: str = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def message(*calls: Any, content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tagged(value: Any) -> str:
    return f"<tool_call>\n{json.dumps(value)}\n</tool_call>"


READABLE = {
    "bash block": ("```bash\nls -l\n```", [Run("ls -l")]),
    "sh block": ("```sh\nls\n```", [Run("ls")]),
    "words around": ("First I look.\n\n```bash\nls\n```\nThen we see.", [Run("ls")]),
    "upper case": ("```Bash\nls\n```", [Run("ls")]),
    "several lines": ("```bash\ncd /tmp\n\necho hi\n```", [Run("cd /tmp\n\necho hi")]),
    "windows line ends": ("```bash\r\nls\r\n```\r\n", [Run("ls")]),
    "text is kept": ("```bash\n  echo 'naïve 🙂'\t\n```", [Run("  echo 'naïve 🙂'\t")]),
    "a longer fence holds a shorter": (
        "````bash\ncat > a.md <<E\n```bash\nx\n```\nE\n````",
        [Run("cat > a.md <<E\n```bash\nx\n```\nE")],
    ),
    "other languages beside": ("```python\nprint()\n```\n```bash\nls\n```", [Run("ls")]),
    "block in a block": ("````markdown\n```bash\nrm x\n```\n````\n```bash\nls\n```", [Run("ls")]),
    "submit": ("Done.\n```bash\nsubmit\n```", [Finish()]),
    "submit with blanks": ("```bash\n\n  submit \n```", [Finish()]),
    "submit among others is a command": ("```bash\nls\nsubmit\n```", [Run("ls\nsubmit")]),
    "content of a dict": ({"role": "assistant", "content": "```bash\nls\n```"}, [Run("ls")]),
    "openai run": (message(tool_call("run_command", '{"command": "ls", "timeout": 2}')), [Run("ls", 2, "c1")]),
    "openai arguments as an object": (message(tool_call("run_command", {"command": "ls"})), [Run("ls", None, "c1")]),
    "openai write": (
        message(tool_call("write_file", '{"path": "a", "content": ""}')),
        [Write("a", "", "c1")],
    ),
    "openai finish": (message(tool_call("finish", "{}")), [Finish("c1")]),
    "openai finish without arguments": (message(tool_call("finish", "")), [Finish("c1")]),
    "openai several": (
        message(tool_call("run_command", '{"command": "a"}', "x"), tool_call("finish", "{}", "y")),
        [Run("a", None, "x"), Finish("y")],
    ),
    "openai calls win over the content": (
        message(tool_call("run_command", '{"command": "a"}'), content="```bash\nb\n```"),
        [Run("a", None, "c1")],
    ),
    "tagged run": (tagged({"name": "run_command", "arguments": {"command": "ls"}}), [Run("ls")]),
    "tagged arguments as text": (tagged({"name": "run_command", "arguments": '{"command": "ls"}'}), [Run("ls")]),
    "tagged finish": (tagged({"name": "finish"}), [Finish()]),
    "tagged several": (
        "Now:\n" + tagged({"name": "write_file", "arguments": {"path": "a", "content": "```bash\nx\n```"}})
        + tagged({"name": "run_command", "arguments": {"command": "sh a"}}),
        [Write("a", "```bash\nx\n```"), Run("sh a")],
    ),
    "a tag in a command is text": (
        "```bash\necho '<tool_call>{}</tool_call>'\n```",
        [Run("echo '<tool_call>{}</tool_call>'")],
    ),
}  # fmt: skip

MALFORMED = {
    "empty": ("", "was empty"),
    "blank": (" \n", "was empty"),
    "no block": ("ls -l", "no command"),
    "no content": ({"role": "assistant", "content": None}, "was empty"),
    "other language": ("```python\nprint()\n```", "marked `python`"),
    "no language": ("```\nls\n```", "no language"),
    "two blocks": ("```bash\na\n```\n```bash\nb\n```", "2 bash blocks"),
    "not closed": ("```bash\nls", "not closed"),
    "empty block": ("```bash\n\n```", "block was empty"),
    "zero byte": ("```bash\nls \0\n```", "NUL"),
    "half a surrogate pair": ("```bash\nls \ud800\n```", "surrogate"),
    "unknown tool": (message(tool_call("bash", "{}")), "no tool 'bash'; the tools are run_command, write_file, finish"),
    "arguments no json": (message(tool_call("run_command", "{command")), "not valid JSON"),
    "arguments no object": (message(tool_call("run_command", "[1]")), "must be an object"),
    "arguments none": (message(tool_call("run_command", None)), "must be an object"),
    "argument missing": (message(tool_call("write_file", '{"path": "a"}')), "needs content"),
    "argument unknown": (message(tool_call("run_command", '{"command": "a", "cwd": "/"}')), "no argument 'cwd'"),
    "argument of another type": (
        message(tool_call("run_command", '{"command": ["ls"]}')),
        "must be a string, got list",
    ),
    "timeout as text": (message(tool_call("run_command", '{"command": "a", "timeout": "5"}')), "a number of seconds"),
    "timeout as truth": (message(tool_call("run_command", '{"command": "a", "timeout": true}')), "a number of seconds"),
    "timeout zero": (message(tool_call("run_command", '{"command": "a", "timeout": 0}')), "above 0"),
    "timeout nan": (message(tool_call("run_command", '{"command": "a", "timeout": NaN}')), "above 0"),
    "empty command": (message(tool_call("run_command", '{"command": " "}')), "command was empty"),
    "empty path": (message(tool_call("write_file", '{"path": "", "content": ""}')), "path` was empty"),
    "finish with arguments": (message(tool_call("finish", '{"why": 1}')), "it takes none"),
    "calls no list": ({"content": "", "tool_calls": {"a": 1}}, "must be a list"),
    "call no object": (message("ls"), "must be an object"),
    "call without function": (message({"id": "a"}), "needs `function`"),
    "tag not closed": ('<tool_call>{"name": "finish"}', "not closed"),
    "tag without json": ("<tool_call>run ls</tool_call>", "not valid JSON"),
    "tag too deep": (f"<tool_call>{'[' * 100_000}</tool_call>", "not valid JSON"),
    "tag without name": (tagged({"tool": "finish"}), "needs `name`"),
    "tag with a list": (tagged([1]), "needs `name`"),
}


@pytest.mark.parametrize(("action", "calls"), READABLE.values(), ids=READABLE)
def test_what_can_be_read(action: Any, calls: list[Any]) -> None:
    assert parse(action) == calls


@pytest.mark.parametrize(("action", "said"), MALFORMED.values(), ids=MALFORMED)
def test_what_cannot_be_read_is_explained(action: Any, said: str) -> None:
    [call] = parse(action)
    assert isinstance(call, Malformed)
    assert said in call.problem


def test_the_example_in_an_explanation_can_be_read() -> None:
    [problem] = parse("ls")
    assert parse(problem.problem) == [Run("ls -l")]
    [problem] = parse(tagged({"name": "write_file", "arguments": {}}))
    [call] = parse(problem.problem)
    assert isinstance(call, Write)


def test_one_bad_call_leaves_the_others_readable() -> None:
    calls = parse(message(tool_call("run_command", "{", "a"), tool_call("run_command", '{"command": "b"}', "b")))
    assert [type(call) for call in calls] == [Malformed, Run]
    assert [call.call_id for call in calls] == ["a", "b"]


def test_any_text_is_read_without_an_error() -> None:
    import random

    rng = random.Random(3)
    parts = ["```bash\n", "```", "\n", "<tool_call>", "</tool_call>", '{"name"', "submit", *string.printable]
    for _ in range(3000):
        assert parse("".join(rng.choice(parts) for _ in range(rng.randrange(30))))


def test_schemas_name_the_tools_and_their_arguments() -> None:
    functions = {schema["function"]["name"]: schema["function"]["parameters"] for schema in TOOL_SCHEMAS}
    assert list(functions) == ["run_command", "write_file", "finish"]
    assert functions["run_command"]["required"] == ["command"]
    assert set(functions["write_file"]["properties"]) == {"path", "content"}
