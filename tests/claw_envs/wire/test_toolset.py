"""Every form of the agent's message, and every way to get it wrong."""

import json
import random
import string
import time
from typing import Any

import pytest

from claw_envs.terminal.tools import TOOLSET, Finish, Press, Run, Start, Stop, Type, View, Write
from claw_envs.wire.calls import Malformed
from claw_envs.wire.toolset import Call

parse = TOOLSET.parse


def tool_call(name: str, arguments: Any, call_id: str = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def message(*calls: Any, content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tagged(value: Any) -> str:
    return f"<tool_call>\n{json.dumps(value)}\n</tool_call>"


def tag(name: str, **arguments: Any) -> str:
    return tagged({"name": name, "arguments": arguments})


def xml(name: str, **parameters: str) -> str:
    inner = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in parameters.items())
    return f"<tool_call>\n<function={name}>\n{inner}</function>\n</tool_call>"


READABLE = {
    "bash block": ("```bash\nls -l\n```", [Call(Run("ls -l"))]),
    "sh block": ("```sh\nls\n```", [Call(Run("ls"))]),
    "after thinking": ("<think>\n```bash\nrm -r /\n```\nno\n</think>\n```bash\nls\n```", [Call(Run("ls"))]),
    "tag after thinking": (f"{tag('finish')}</think>{tag('run_command', command='ls')}", [Call(Run("ls"))]),
    "words around": ("First I look.\n\n```bash\nls\n```\nThen we see.", [Call(Run("ls"))]),
    "upper case": ("```Bash\nls\n```", [Call(Run("ls"))]),
    "several lines": ("```bash\ncd /tmp\n\necho hi\n```", [Call(Run("cd /tmp\n\necho hi"))]),
    "windows line ends": ("```bash\r\nls\r\n```\r\n", [Call(Run("ls"))]),
    "text is kept": ("```bash\n  echo 'naïve 🙂'\t\n```", [Call(Run("  echo 'naïve 🙂'\t"))]),
    "a longer fence holds a shorter": (
        "````bash\ncat > a.md <<E\n```bash\nx\n```\nE\n````",
        [Call(Run("cat > a.md <<E\n```bash\nx\n```\nE"))],
    ),
    "other languages beside": ("```python\nprint()\n```\n```bash\nls\n```", [Call(Run("ls"))]),
    "block in a block": ("````markdown\n```bash\nrm x\n```\n````\n```bash\nls\n```", [Call(Run("ls"))]),
    "submit": ("Done.\n```bash\nsubmit\n```", [Call(Finish())]),
    "submit with blanks": ("```bash\n\n  submit \n```", [Call(Finish())]),
    "submit among others is a command": ("```bash\nls\nsubmit\n```", [Call(Run("ls\nsubmit"))]),
    "content of a dict": ({"role": "assistant", "content": "```bash\nls\n```"}, [Call(Run("ls"))]),
    "openai run": (message(tool_call("run_command", '{"command": "ls", "timeout": 2}')), [Call(Run("ls", 2), "c1")]),
    "openai arguments as an object": (message(tool_call("run_command", {"command": "ls"})), [Call(Run("ls"), "c1")]),
    "openai write": (
        message(tool_call("write_file", '{"path": "a", "content": ""}')),
        [Call(Write("a", ""), "c1")],
    ),
    "openai finish": (message(tool_call("finish", "{}")), [Call(Finish(), "c1")]),
    "openai finish without arguments": (message(tool_call("finish", "")), [Call(Finish(), "c1")]),
    "openai several": (
        message(tool_call("run_command", '{"command": "a"}', "x"), tool_call("finish", "{}", "y")),
        [Call(Run("a"), "x"), Call(Finish(), "y")],
    ),
    "openai calls win over the content": (
        message(tool_call("run_command", '{"command": "a"}'), content="```bash\nb\n```"),
        [Call(Run("a"), "c1")],
    ),
    "tagged run": (tag("run_command", command="ls"), [Call(Run("ls"))]),
    "tagged arguments as text": (tagged({"name": "run_command", "arguments": '{"command": "ls"}'}), [Call(Run("ls"))]),
    "tagged finish": (tagged({"name": "finish"}), [Call(Finish())]),
    "tagged several": (
        "Now:\n" + tag("write_file", path="a", content="```bash\nx\n```")
        + tag("run_command", command="sh a"),
        [Call(Write("a", "```bash\nx\n```")), Call(Run("sh a"))],
    ),
    "a tag in a command is text": (
        "```bash\necho '<tool_call>{}</tool_call>'\n```",
        [Call(Run("echo '<tool_call>{}</tool_call>'"))],
    ),
    "a call in a block of another language": ("```json\n" + tagged({"name": "finish"}) + "\n```", [Call(Finish())]),
    "without a time-out, said so": (
        message(tool_call("run_command", '{"command": "a", "timeout": null}')),
        [Call(Run("a"), "c1")],
    ),
    "start": (tag("start_process", command="python3"), [Call(Start("python3"))]),
    "view": (tag("view_process", process=2), [Call(View(2))]),
    "view with a wait": (tag("view_process", process=2, wait=0.5), [Call(View(2, 0.5))]),
    "write": (tag("write_to_process", process=1, text="a\0\n"), [Call(Type(1, "a\0\n"))]),
    "keys": (tag("send_keys", process=1, keys="C-c Up"), [Call(Press(1, "C-c Up"))]),
    "keys as a list": (tag("send_keys", process=1, keys=["q"]), [Call(Press(1, ["q"]))]),
    "stop": (tag("stop_process", process=1), [Call(Stop(1))]),
    "xml": (xml("run_command", command="ls -l", timeout="2.5"), [Call(Run("ls -l", 2.5))]),
    "xml on one line": ("<tool_call><function=finish></function></tool_call>", [Call(Finish())]),
    "xml without the end of the function": ("<tool_call><function=finish></tool_call>", [Call(Finish())]),
    "xml keeps lines, blanks and fences": (
        xml("write_file", path="a.md", content="\n# x\n```bash\n ls\n```\n"),
        [Call(Write("a.md", "\n# x\n```bash\n ls\n```\n"))],
    ),
    "xml number": (xml("view_process", process="3"), [Call(View(3))]),
    "xml and json": (xml("finish") + tagged({"name": "finish"}), [Call(Finish()), Call(Finish())]),
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
    "unknown tool": (message(tool_call("bash", "{}")), "no tool 'bash'; the tools are run_command, start_process"),
    "arguments no json": (message(tool_call("run_command", "{command")), "not valid JSON"),
    "arguments no object": (message(tool_call("run_command", "[1]")), "Expected `object`, got `array`"),
    "arguments none": (message(tool_call("run_command", None)), "Expected `object`, got `null`"),
    "argument missing": (message(tool_call("write_file", '{"path": "a"}')), "missing required field `content`"),
    "argument unknown": (
        message(tool_call("run_command", '{"command": "a", "cwd": "/"}')),
        "unknown field `cwd`. It takes command, timeout.",
    ),
    "argument of another type": (
        message(tool_call("run_command", '{"command": ["ls"]}')),
        "Expected `str`, got `array` - at `$.command`",
    ),
    "timeout as text": (
        message(tool_call("run_command", '{"command": "a", "timeout": "5"}')),
        "Expected `float | null`, got `str`",
    ),
    "timeout as truth": (
        message(tool_call("run_command", '{"command": "a", "timeout": true}')),
        "Expected `float | null`, got `bool`",
    ),
    "timeout zero": (message(tool_call("run_command", '{"command": "a", "timeout": 0}')), "> 0"),
    "timeout nan": (message(tool_call("run_command", '{"command": "a", "timeout": NaN}')), "> 0"),
    "empty command": (message(tool_call("run_command", '{"command": " "}')), "command was empty"),
    "empty path": (message(tool_call("write_file", '{"path": "", "content": ""}')), "path` was empty"),
    "finish with arguments": (message(tool_call("finish", '{"why": 1}')), "It takes nothing"),
    "calls no list": ({"content": "", "tool_calls": {"a": 1}}, "must be a list"),
    "call no object": (message("ls"), "must be an object"),
    "call without function": (message({"id": "a"}), "needs `function`"),
    "tag not closed": ('<tool_call>{"name": "finish"}', "not closed"),
    "tag without json": ("<tool_call>run ls</tool_call>", "not valid JSON"),
    "tag too deep": (f"<tool_call>{'[' * 100_000}</tool_call>", "not valid JSON"),
    "tag without name": (tagged({"tool": "finish"}), "needs `name`"),
    "tag with a list": (tagged([1]), "needs `name`"),
    "half a surrogate pair in a name": (message(tool_call("\ud800", "{}")), "no tool '\\ud800'"),
    "half a surrogate pair in an argument's name": (
        message(tool_call("finish", {"\ud800": 1})),
        "surrogates not allowed",
    ),
    "process as a fraction": (tag("stop_process", process=1.5), "Expected `int`"),
    "process zero": (tag("stop_process", process=0), ">= 1"),
    "no keys": (tag("send_keys", process=1, keys=" "), "name the keys"),
    "no such key": (tag("send_keys", process=1, keys="Ctrl-C"), "write Ctrl as C-c"),
    "start nothing": (tag("start_process", command=""), "command was empty"),
    "xml unknown tool": (xml("bash", command="ls"), "no tool 'bash'"),
    "xml argument missing": (xml("run_command"), "missing required field `command`"),
    "xml argument of another type": (xml("view_process", process="first"), "Expected `int`, got `str`"),
    "xml with words between": ("<tool_call><function=finish>now</function></tool_call>", "nothing else"),
    "xml with words after": ("<tool_call><function=finish></function> now</tool_call>", "nothing else"),
    "xml parameter not closed": ("<tool_call><function=finish><parameter=a>1</tool_call>", "nothing else"),
}


@pytest.mark.parametrize(("action", "calls"), READABLE.values(), ids=READABLE)
def test_what_can_be_read(action: Any, calls: list[Any]) -> None:
    assert parse(action) == calls


@pytest.mark.parametrize(("action", "said"), MALFORMED.values(), ids=MALFORMED)
def test_what_cannot_be_read_is_explained(action: Any, said: str) -> None:
    [call] = parse(action)
    assert isinstance(call.tool, Malformed)
    assert said in call.tool.problem
    assert call.tool.problem.encode()


def problem(action: Any) -> str:
    [call] = parse(action)
    assert isinstance(call.tool, Malformed)
    return call.tool.problem


def test_the_example_in_an_explanation_can_be_read() -> None:
    assert parse(problem("ls")) == [Call(Run("ls -l"))]
    [call] = parse(problem(tag("write_file")))
    assert isinstance(call.tool, Write)


def test_one_bad_call_leaves_the_others_readable() -> None:
    calls = parse(message(tool_call("run_command", "{", "a"), tool_call("run_command", '{"command": "b"}', "b")))
    assert [type(call.tool) for call in calls] == [Malformed, Run]
    assert [call.id for call in calls] == ["a", "b"]


@pytest.mark.parametrize("filler", ["x", " ", "`", "x ", "` "])
def test_a_long_line_is_read_in_no_time(filler: str) -> None:
    started = time.process_time()
    parse("```" + filler * 20_000 + "` x")
    assert time.process_time() - started < 1.0, "quadratic in the length of the line"


def test_any_text_is_read_without_an_error() -> None:
    rng = random.Random(3)
    parts = ["```bash\n", "```", "\n", "<tool_call>", "</tool_call>", '{"name"', "<function=", "run_command>", "submit"]
    parts += ["<parameter=command>", "</parameter>", "</function>", *string.printable]
    for _ in range(3000):
        assert parse("".join(rng.choice(parts) for _ in range(rng.randrange(30))))
