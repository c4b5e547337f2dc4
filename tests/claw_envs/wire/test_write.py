"""What is written in any form is read back as the same calls."""

import json
import random
import string
from typing import Any, get_args

import pytest

from claw_envs.toolcall.wire import parse
from claw_envs.wire import Call, Form, write

HOSTILE = [
    "",
    "plain",
    "it's \"quoted\" \\ and 'so'",
    "several\nlines\r\n\n\twith tabs \n",
    "naïve 🙂 中文 \u2028 \0 \x1b[0m",
    "</tool_call>",
    "<tool_call>{}</tool_call>",
    "</think> <think>",
    "<|python_tag|> <|im_end|>",
    "</code> <code>",
    "```\nfence\n```",
    "```python\n1\n```\n````",
    '"}}</tool_call>',
    "</parameter></function>",
    "\n\nblank lines\n\n",
    "; {",
    "x" * 10_000,
]
VALUES: list[Any] = [*HOSTILE, 0, -1.5, 1e300, 10**40, True, None, [], {}, [[{"a": [None]}]], {"": "", "</think>": 1}]
TYPED: list[Form] = ["openai", "hermes", "llama3"]
CODE: list[Form] = ["code", "fenced"]


def read(calls: list[Call], form: Form) -> list[Any]:
    parsed = parse(write(calls, form), code_tool="python")
    assert (parsed.form, parsed.text) == (form, "")
    return [call._replace(id=None) for call in parsed.calls]


def test_every_form_is_tried_here() -> None:
    assert {*TYPED, *CODE} == set(get_args(Form))


@pytest.mark.parametrize("form", TYPED)
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_arguments_come_back(form: Form, value: Any) -> None:
    calls = [Call("f", {"value": value}), Call("g", {}), Call("f", {"a": [value], "b": {"c": value}})]
    assert read(calls[:1], form) == calls[:1]
    assert read(calls, form) == calls


@pytest.mark.parametrize("form", CODE)
@pytest.mark.parametrize("text", [text for text in HOSTILE if text and "</think>" not in text])
def test_code_comes_back(form: Form, text: str) -> None:
    calls = [Call("python", {"code": text}), Call("python", {"code": f"  {text}\nprint(1)"})]
    assert read(calls[:1], form) == calls[:1]
    assert read(calls, form) == calls


@pytest.mark.parametrize("text", [text for text in HOSTILE if "</" not in text])
def test_xml_comes_back(text: str) -> None:
    calls = [Call("f", {"a": text, "b-1": "5"}, typed=False), Call("g", {}, typed=False)]
    assert "<function=f>" in str(write(calls, "hermes"))
    assert read(calls, "hermes") == calls


def test_ids_come_back_and_missing_ones_are_made() -> None:
    calls = [Call("f", {}, "a"), Call("g", {})]
    message = write(calls, "openai")
    assert isinstance(message, dict)
    assert message["role"] == "assistant"
    assert [entry["id"] for entry in message["tool_calls"]] == ["a", "call_2"]
    assert parse(message, code_tool=None).calls == [calls[0], calls[1]._replace(id="call_2")]
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {}


@pytest.mark.parametrize(
    ("call", "form"),
    [
        (Call("python", {"code": "</think>"}), "fenced"),
        (Call("python", {"code": " \n"}), "code"),
        (Call("python", {"code": 1}), "code"),
        (Call("python", {}), "fenced"),
        (Call("python", {"code": "1", "timeout": 2}), "fenced"),
        (Call("f", {"a": "</parameter>"}, typed=False), "hermes"),
        (Call("f", {"a": 1}, typed=False), "hermes"),
    ],
)
def test_what_a_form_cannot_carry_is_refused(call: Call, form: Form) -> None:
    with pytest.raises(ValueError, match="carries"):
        write([call], form)


def test_any_text_comes_back_in_any_form() -> None:
    rng = random.Random(11)
    parts = [*string.printable.replace("\r", ""), *HOSTILE[:-1], "`", "```", "🙂"]
    for _ in range(1500):
        text = "x" + "".join(rng.choice(parts) for _ in range(rng.randrange(12)))
        for form in TYPED:
            calls = [Call("f", {text: text, "list": [text]})] * rng.randrange(1, 3)
            assert read(calls, form) == calls
        if "</think>" not in text:
            calls = [Call("python", {"code": text})] * rng.randrange(1, 3)
            assert all(read(calls, form) == calls for form in CODE)
