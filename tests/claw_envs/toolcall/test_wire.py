"""Every form of the agent's message, what is a call in it and what is said, and every way to get it wrong."""

import json
import random
import string
import time
from typing import Any

import pytest

from claw_envs.toolcall.wire import parse
from claw_envs.wire.calls import Call, Malformed, Parsed


def entry(name: str, arguments: Any, call_id: str = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def message(*calls: Any, content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tag(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def code(text: str) -> Call:
    return Call("python", {"code": text})


ADD = Call("add", {"a": 1})
JSON = '{"name": "add", "parameters": {"a": 1}}'

CALLS: dict[str, tuple[Any, Parsed]] = {
    "openai": (message(entry("add", '{"a": 1}')), Parsed([Call("add", {"a": 1}, "c1")], "", "openai")),
    "openai with words": (
        message(entry("add", {"a": 1}), content="<think>\nhm\n</think>I add."),
        Parsed([Call("add", {"a": 1}, "c1")], "I add.", "openai"),
    ),
    "openai several": (
        message(entry("add", '{"a": 1}', "x"), entry("now", "", "y"), entry("now", "{}", "")),
        Parsed([Call("add", {"a": 1}, "x"), Call("now", {}, "y"), Call("now", {}, "")], "", "openai"),
    ),
    "openai calls before those in the content": (
        message(entry("now", "{}"), content=tag("add", a=1)),
        Parsed([Call("now", {}, "c1")], tag("add", a=1), "openai"),
    ),
    "no openai calls": ({"content": tag("add", a=1), "tool_calls": []}, Parsed([ADD], "", "hermes")),
    "content in parts": (
        {"content": [{"type": "text", "text": "I add."}, {"type": "text", "text": tag("add", a=1)}]},
        Parsed([ADD], "I add.", "hermes"),
    ),
    "hermes": (f"I add.\n{tag('add', a=1)}\nThen I see.", Parsed([ADD], "I add.\n\nThen I see.", "hermes")),
    "hermes several": (tag("add", a=1) + tag("now"), Parsed([ADD, Call("now", {})], "", "hermes")),
    "hermes with parameters": (f"<tool_call>{JSON}</tool_call>", Parsed([ADD], "", "hermes")),
    "hermes without arguments": ('<tool_call>{"name": "now"}</tool_call>', Parsed([Call("now", {})], "", "hermes")),
    "hermes arguments as text": (
        '<tool_call>{"name": "add", "arguments": "{\\"a\\": 1}"}</tool_call>',
        Parsed([ADD], "", "hermes"),
    ),
    "hermes with its end in a text": (
        tag("write", text='a </tool_call> "b" <tool_call>') + tag("now"),
        Parsed([Call("write", {"text": 'a </tool_call> "b" <tool_call>'}), Call("now", {})], "", "hermes"),
    ),
    "hermes with a fence in a text": (
        tag("write", text="```python\n1\n```"),
        Parsed([Call("write", {"text": "```python\n1\n```"})], "", "hermes"),
    ),
    "hermes in a json block": (f"Now:\n```json\n{tag('now')}\n```", Parsed([Call("now", {})], "Now:", "hermes")),
    "hermes twice in a block": (
        f"```\n{tag('now')}\n{tag('add', a=1)}\n```",
        Parsed([Call("now", {}), ADD], "", "hermes"),
    ),
    "the last of equal keys": (
        '<tool_call>{"name": "add", "arguments": {"a": 0, "a": 1}}</tool_call>',
        Parsed([ADD], "", "hermes"),
    ),
    "xml": (
        "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
        Parsed([Call("add", {"a": "1"}, typed=False)], "", "hermes"),
    ),
    "a tag goes before a block": (
        f"As in\n```python\n1\n```\n{tag('now')}",
        Parsed([Call("now", {})], "As in\n```python\n1\n```", "hermes"),
    ),
    "fenced": ("I add.\n```python\n1 + 1\n```", Parsed([code("1 + 1")], "I add.", "fenced")),
    "fenced several": (
        "```py\nx = 1\n```\nand\n```Python3\nx\n```",
        Parsed([code("x = 1"), code("x")], "and", "fenced"),
    ),
    "fenced by more": ("````python\n'''\n```\n'''\n````", Parsed([code("'''\n```\n'''")], "", "fenced")),
    "fenced with a tag in it": (
        "```python\nprint('<tool_call>')\n```",
        Parsed([code("print('<tool_call>')")], "", "fenced"),
    ),
    "fenced with windows line ends": ("```python\r\n1\r\n2\r\n```\r\n", Parsed([code("1\r\n2")], "", "fenced")),
    "fenced keeps blank lines": ("```python\n\n1\n\n```", Parsed([code("\n1\n")], "", "fenced")),
    "made-up output": (
        "```python\n1\n```\n```output\n1\n<tool_call>{}</tool_call>\n```\nSo 1.",
        Parsed([code("1")], "```output\n1\n<tool_call>{}</tool_call>\n```\nSo 1.", "fenced"),
    ),
    "made-up response": (
        f"{tag('now')}\n<tool_response>\n{tag('add', a=1)}\n</tool_response>",
        Parsed([Call("now", {})], f"<tool_response>\n{tag('add', a=1)}\n</tool_response>", "hermes"),
    ),
    "made-up interpreter": (
        "<code>1</code><interpreter>\n```python\n2\n```\n</interpreter>",
        Parsed([code("1")], "<interpreter>\n```python\n2\n```\n</interpreter>", "code"),
    ),
    "a word like a made-up answer": (
        "#!<interpreter>\n```python\n1\n```",
        Parsed([code("1")], "#!<interpreter>", "fenced"),
    ),
    "code": ("So <code>\nprint(1)\n</code> it is", Parsed([code("print(1)")], "So  it is", "code")),
    "code on one line": ("<code>print(1)</code>", Parsed([code("print(1)")], "", "code")),
    "code in a fence": ("<code>\n```python\nprint(1)\n```\n</code>", Parsed([code("print(1)")], "", "code")),
    "code in a fence with its end": (
        "<code>\n```py\nprint('</code>')\n```\n</code>",
        Parsed([code("print('</code>')")], "", "code"),
    ),
    "code goes before a block": ("```python\n1\n```\n<code>2</code>", Parsed([code("2")], "```python\n1\n```", "code")),
    "llama": (JSON, Parsed([ADD], "", "llama3")),
    "llama with arguments": ('{"name": "add", "arguments": {"a": 1}}', Parsed([ADD], "", "llama3")),
    "llama with a type": (
        '{"type": "function", "name": "add", "parameters": {"a": 1}}',
        Parsed([ADD], "", "llama3"),
    ),
    "llama after its tag": (f"Well. <|python_tag|>{JSON}", Parsed([ADD], "Well.", "llama3")),
    "llama several by semicolon": (f"{JSON}; {JSON}", Parsed([ADD, ADD], "", "llama3")),
    "llama several by line": (f"{JSON}\n\n{JSON}\n", Parsed([ADD, ADD], "", "llama3")),
    "llama list": (f"[{JSON}, {JSON}]", Parsed([ADD, ADD], "", "llama3")),
    "llama with words after": (f"{JSON}\nThat adds.", Parsed([ADD], "That adds.", "llama3")),
    "llama with a made-up result": (f'{JSON}\n{{"result": 2}}', Parsed([ADD], '{"result": 2}', "llama3")),
    "llama in a json block": (f"I add.\n```json\n{JSON}\n```", Parsed([ADD], "I add.", "llama3")),
    "code after llama's tag": ("<|python_tag|>print(1)", Parsed([code("print(1)")], "", "llama3")),
    "a list after llama's tag": ("<|python_tag|>[1, 2]", Parsed([code("[1, 2]")], "", "llama3")),
    "after thinking": (f"{tag('now')} no</think>\n{tag('add', a=1)}", Parsed([ADD], "", "hermes")),
    "before an unclosed thought": (
        f"{tag('now')}\n<think>\n{tag('add', a=1)}",
        Parsed([Call("now", {})], "", "hermes"),
    ),
}

TEXTS: dict[str, tuple[Any, str]] = {
    "half a surrogate pair": ("It is \ud800", "It is ?"),
    "words": ("The answer is \\boxed{2}.", "The answer is \\boxed{2}."),
    "nothing": ("", ""),
    "no content": ({"role": "assistant", "content": None}, ""),
    "after thinking": ("<think>\n```python\n1\n```\n</think>\nIt is 2.", "It is 2."),
    "thinking that the template opened": (f"{tag('now')} hm </think> It is 2.", "It is 2."),
    "thinking without end": ("<think>\n```python\n1\n```\n<tool_call>{}</tool_call><code>1</code>", ""),
    "words before thinking without end": (f"It is 2.\n<think>{tag('now')}", "It is 2."),
    "another language": ("```bash\nls\n```", "```bash\nls\n```"),
    "no language": ("```\n1\n```", "```\n1\n```"),
    "python in another block": ("````md\n```python\n1\n```\n````", "````md\n```python\n1\n```\n````"),
    "code within a line": ("It is `<tool>` and ```python 1```", "It is `<tool>` and ```python 1```"),
    "json that is no call": ('{"name": "Ada", "age": 3}', '{"name": "Ada", "age": 3}'),
    "json with more than a call": (f'{JSON[:-1]}, "b": 1}}', f'{JSON[:-1]}, "b": 1}}'),
    "a list of numbers": ("[1, 2, 3]", "[1, 2, 3]"),
    "an empty list": ("[]", "[]"),
    "an interval": ("[0, 1)", "[0, 1)"),
    "broken json that is no call": ('{"a":', '{"a":'),
    "json after words": (f"It is {JSON}", f"It is {JSON}"),
    "a json answer in a block": ('```json\n{"a": 1}\n```', '```json\n{"a": 1}\n```'),
    "made-up answer only": (
        f"<tool_response>{tag('now')}</tool_response>",
        f"<tool_response>{tag('now')}</tool_response>",
    ),
}

MALFORMED: dict[str, tuple[Any, str]] = {
    "no message": (None, "A message is a text"),
    "calls no list": (message() | {"tool_calls": {"a": 1}}, "must be a list"),
    "entry no object": (message("add"), "must be an object"),
    "entry without function": (message({"id": "a"}), "needs `function`"),
    "entry with a name of another type": (message(entry(3, "{}")), "needs `function`"),  # type: ignore[arg-type]
    "arguments broken": (message(entry("add", "{a")), "arguments of 'add' are not valid JSON"),
    "arguments a list": (message(entry("add", "[1]")), "Expected `object`, got `array`"),
    "arguments nothing": (message(entry("add", None)), "Expected `object`, got `null`"),
    "arguments a number": (message(entry("add", 1.5)), "Expected `object`, got `float`"),
    "arguments of another kind": (message(entry("add", {1, 2})), "Expected `object`, got `set`"),
    "arguments too deep": (message(entry("add", "[" * 100_000)), "not valid JSON"),
    "arguments too long a number": (message(entry("add", f'{{"a": {"1" * 5000}}}')), "not valid JSON"),
    "half a surrogate pair in a name": (message(entry("\ud800", "{")), "'\\ud800'"),
    "half a surrogate pair": (tag("add", a="\ud800"), "surrogates not allowed"),
    "half a surrogate pair in a key": (message(entry("add", {"\ud800": 1})), "surrogates not allowed"),
    "a value that is no JSON": (message(entry("add", {"a": {1}})), "not JSON serializable"),
    "tag not closed": ('<tool_call>{"name": "now"}', "not closed; end it with </tool_call>"),
    "tag opened twice": (f"<tool_call>\n{tag('now')}", "opened again before it was closed"),
    "tag closed only": ('{"name": "now", </tool_call>', "begin the call with <tool_call>"),
    "tag broken": ('<tool_call>{"name": "now", }</tool_call>', "not valid JSON"),
    "tag with a fence": ('<tool_call>\n```json\n{"name": "now"}\n```\n</tool_call>', "without a fence"),
    "tag empty": ("<tool_call></tool_call>", "not valid JSON"),
    "tag without name": ('<tool_call>{"arguments": {}}</tool_call>', "needs `name`"),
    "tag with a list": ("<tool_call>[1]</tool_call>", "needs `name`"),
    "tag with arguments in a list": ('<tool_call>{"name": "add", "arguments": [1]}</tool_call>', "got `array`"),
    "tag too deep": (f"<tool_call>{'[' * 100_000}</tool_call>", "not valid JSON"),
    "xml with words": ("<tool_call><function=f>now</function></tool_call>", "nothing else"),
    "block not closed": ("```python\n1", "not closed; end it with a line of three backticks"),
    "block empty": ("```python\n \n```", "empty"),
    "code not closed": ("<code>1", "not closed; end it with </code>"),
    "code empty": ("<code></code>", "empty"),
    "llama broken": ('{"name": "add", "parameters": {"a": ', "not valid JSON"),
    "llama broken list": ('[{"name": "add", "parameters": {"a": }}]', "not valid JSON"),
    "llama name": ('{"name": 1, "parameters": {}}', "must be a text"),
    "llama arguments": ('{"name": "add", "parameters": [1]}', "got `array`"),
    "llama broken in a block": ('```json\n{"name": "add", "arguments": {,}}\n```', "not valid JSON"),
}  # fmt: skip


@pytest.mark.parametrize(("action", "parsed"), CALLS.values(), ids=CALLS)
def test_calls_are_read(action: Any, parsed: Parsed) -> None:
    assert parse(action, code_tool="python") == parsed


@pytest.mark.parametrize(("action", "text"), TEXTS.values(), ids=TEXTS)
def test_what_is_no_call_is_said(action: Any, text: str) -> None:
    assert parse(action, code_tool="python") == Parsed([], text)


@pytest.mark.parametrize(("action", "why"), MALFORMED.values(), ids=MALFORMED)
def test_what_cannot_be_read_is_explained(action: Any, why: str) -> None:
    [call] = parse(action, code_tool="python").calls
    assert isinstance(call, Malformed)
    assert why in call.problem
    assert call.problem.encode()


@pytest.mark.parametrize("text", ["```python\n1\n```", "<code>1</code>", "```python\n1"])
def test_code_is_text_where_no_tool_takes_it(text: str) -> None:
    assert parse(text, code_tool=None) == Parsed([], text)


def test_a_call_in_a_python_block_counts_where_no_tool_takes_code() -> None:
    assert parse(f"```python\n{tag('now')}\n```", code_tool=None).calls == [Call("now", {})]


def test_what_follows_llamas_tag_is_a_call_or_explained() -> None:
    [call] = parse("<|python_tag|>print(1)", code_tool=None).calls
    assert isinstance(call, Malformed)
    assert '"parameters"' in call.problem


def test_one_bad_call_leaves_the_others_readable() -> None:
    parsed = parse(message(entry("add", "{", "a"), entry("now", "{}", "b")), code_tool=None)
    assert [type(call) for call in parsed.calls] == [Malformed, Call]
    assert [call.id for call in parsed.calls] == ["a", "b"]
    parsed = parse(f"{tag('now')}<tool_call>{{</tool_call>{tag('add', a=1)}", code_tool=None)
    assert [type(call) for call in parsed.calls] == [Call, Malformed, Call]
    parsed = parse(f'{JSON}; {{"name": "add", "parameters": {{', code_tool=None)
    assert [type(call) for call in parsed.calls] == [Call, Malformed]


def test_the_example_in_an_explanation_can_be_read() -> None:
    for action in ("<tool_call>{", '{"name": "a", "parameters": '):
        [call] = parse(action + "}</tool_call>" * action.startswith("<"), code_tool=None).calls
        assert isinstance(call, Malformed)
        [right] = parse(call.problem.rpartition("Write: ")[2], code_tool=None).calls
        assert isinstance(right, Call)


HOSTILE = {
    "tags": "<tool_call>",
    "tags and quotes": '<tool_call>{"',
    "broken tags": '<tool_call>{"a": "\n</tool_call>',
    "tags with fine JSON": '<tool_call>["\\"",""]</tool_call>',
    "ends": "</tool_call>\n",
    "code": "<code>\n",
    "code and short fences": "<code>\n````python\n```\n</code>\n",
    "code and fences": "<code>\n```python\n</code>\n",
    "fences": "```python\n",
    "fences in rising": "```\n````\n`````python\n",
    "blanks": "```python \t \n   \n",
    "thoughts": "</think><think>",
    "responses": "<tool_response>",
    "closed responses": "<tool_response></tool_response>",
    "xml": "<tool_call><function=f><parameter=a>",
    "calls": JSON,
    "broken calls": JSON[:-1],
    "json blocks": f"```json\n{JSON[:-1]}\n```\n",
    "brackets": "[{",
    "python tags": "<|python_tag|>",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    parse(text, code_tool="python")
    assert time.process_time() - started < 10, "a text of a thousandth of the length takes a millisecond"


PARTS = [
    *("```python\n", "```json\n", "```", "\n", "````", "<tool_call>", "</tool_call>", "<code>", "</code>", "<think>"),
    *("</think>", "<|python_tag|>", "<tool_response>", "</tool_response>", "<function=f>", "<parameter=a>", "\\", '"'),
    *("</parameter>", "</function>", JSON, tag("add", a=1), '{"name"', ": NaN", "\ud800", "\\ud800", "\0", "[" * 2000),
    *("9" * 5000, *string.printable),
]  # fmt: skip


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.randrange(1, 6)):
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        text = rng.choice([text[:i] + text[j:], text[:i] + rng.choice(PARTS) + text[i:], text[:j] + text[i:]])
    return text


def test_no_mutation_of_a_right_message_raises() -> None:
    rng = random.Random(5)
    seeds = [action for action, _ in [*CALLS.values(), *TEXTS.values()]]
    outcomes = set()
    for _ in range(4000):
        seed = rng.choice(seeds)
        text = mutated(seed if isinstance(seed, str) else json.dumps(seed), rng)
        action: Any = text
        if not isinstance(seed, str):
            entries = [entry(mutated("add", rng), mutated('{"a": [1, "x"]}', rng)), rng.choice([None, 1, {}, text])]
            action = {"content": text, "tool_calls": rng.choice([entries, text, None, 7])}
        parsed = parse(action, code_tool=rng.choice(["python", None]))
        outcomes.update((parsed.form, type(call)) for call in parsed.calls)
        assert all(call.problem.encode() for call in parsed.calls if isinstance(call, Malformed))
    forms = ["openai", "hermes", "code", "fenced", "llama3"]
    assert outcomes >= {(form, kind) for form in forms for kind in (Call, Malformed)}
