"""What stands in one call of a message, read as a `Call`, or as a `Malformed` that says what was wrong. Never raises.

Where a call stands is found by `claw_envs.wire.scan`. JSON is read as Python reads it: the last of two equal keys
counts, and NaN is a number.
"""

import json
import re
from typing import Any

from claw_envs.wire.calls import Call, Malformed

EXAMPLE = '<tool_call>{"name": "a_tool", "arguments": {"key": "value"}}</tool_call>'
_FUNCTION = re.compile(r"\s*<function=([^>\s]*)>(.*?)(?:</function>\s*)?", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter=([^>\s]*)>\r?\n?(.*?)\r?\n?</parameter>\s*", re.DOTALL)
_KINDS = {list: "array", str: "str", bool: "bool", int: "int", float: "float", type(None): "null"}


def message_calls(message: Any) -> list[Call | Malformed]:
    """The OpenAI calls of a message; empty where it has none."""
    if not isinstance(message, str | dict):
        return [Malformed("A message is a text, or an object with `content` and `tool_calls`.")]
    entries = message.get("tool_calls") if isinstance(message, dict) else None
    if not entries:
        return []
    if not isinstance(entries, list):
        return [Malformed("`tool_calls` must be a list of calls.")]
    return [openai_call(entry) for entry in entries]


def openai_call(entry: Any) -> Call | Malformed:
    """An entry of `tool_calls`: `{"id", "type", "function": {"name", "arguments": <JSON text or object>}}`."""
    if not isinstance(entry, dict):
        return Malformed("Each entry of `tool_calls` must be an object with `id`, `type` and `function`.", "")
    call_id = entry["id"] if isinstance(entry.get("id"), str) else ""
    function = entry.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return Malformed('A tool call needs `function`: {"name": ..., "arguments": ...}.', call_id)
    return named_call(function["name"], function.get("arguments", {}), call_id)


def tagged_call(text: str, *, closed: bool, example: str = EXAMPLE) -> Call | Malformed:
    """What stands in `<tool_call>`: JSON, or `<function=name>` with a `<parameter=key>` for each argument.

    Args:
        closed: whether the tag was.
        example: a right call, shown where this one is not.
    """
    if not closed:
        return Malformed("<tool_call> was not closed; end it with </tool_call>.")
    if text.lstrip().startswith("<function="):
        return _xml_call(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = f"The text in <tool_call> is not valid JSON ({error})."
        if "<tool_call>" in text:
            why += " It was opened again before it was closed."
        elif text.lstrip().startswith("```"):
            why += " It stands there without a fence."
        return Malformed(f"{why} Write: {example}")
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return Malformed(f"<tool_call> needs `name` and `arguments`. Write: {example}")
    return named_call(value["name"], _arguments(value))


def named_call(name: str, arguments: Any, call_id: str | None = None) -> Call | Malformed:
    """The call of `name`, whose arguments may be an object or the JSON text of one."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            return Malformed(f"The arguments of {name!r} are not valid JSON ({error}).", call_id)
    if not isinstance(arguments, dict):
        kind = _KINDS.get(type(arguments), type(arguments).__name__)
        return Malformed(f"The arguments of {name!r}: Expected `object`, got `{kind}`.", call_id)
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError) as error:  # half a surrogate pair, or a value that is no JSON
        return Malformed(f"The arguments of {name!r} cannot be written as JSON ({error}).", call_id)
    return Call(name, {str(key): value for key, value in arguments.items()}, call_id)


def code_call(name: str, code: str, *, closed: bool, end: str) -> Call | Malformed:
    """The call of `name` with a piece of code; the last line break before its end is not part of it.

    Args:
        closed: whether the code was.
        end: what closes it.
    """
    if not closed:
        return Malformed(f"The code was not closed; end it with {end}")
    if not code.strip():
        return Malformed("The code was empty; write what is to be run.")
    return Call(name, {"code": code.removesuffix("\n").removesuffix("\r")})


def _arguments(value: dict[str, Any]) -> Any:
    return value.get("arguments", value.get("parameters", {}))


def _xml_call(text: str) -> Call | Malformed:
    function = _FUNCTION.fullmatch(text)
    if function is None:
        return Malformed("<tool_call> holds one <function=name>...</function> and nothing else.")
    name, content = function.groups()
    arguments: dict[str, Any] = {}
    position = 0
    while found := _PARAMETER.match(content, position):
        arguments[found[1]] = found[2]
        position = found.end()
    if content[position:].strip():
        return Malformed(
            "<function=name> holds one <parameter=key>value</parameter> for each argument and nothing else."
        )
    return Call(name, arguments, typed=False)


# --- Llama 3 ------------------------------------------------------------------------------------------------------

_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s;]*+")
_SEEMS = re.compile(r'\[?\s*+\{\s*+"(?:name|type|id|parameters|arguments)"\s*+:')
_KEYS = {"type", "id", "name", "arguments", "parameters"}


def json_calls(text: str) -> tuple[list[Call | Malformed], str]:
    """The calls that `text` begins with, as Llama 3 writes them, and the text after them.

    Each is `{"name": ..., "parameters": {...}}` or has `arguments` in their place; several stand in a list, or one
    after the other with `;` or line breaks between. Any other JSON is no call.
    """
    calls: list[Call | Malformed] = []
    position = 0
    while True:
        start = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # matches the empty text
        if not text.startswith(("{", "["), start):
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            if _SEEMS.match(text, start) and ('"parameters"' in text or '"arguments"' in text):
                example = '{"name": "a_tool", "parameters": {"key": "value"}}'
                calls.append(Malformed(f"The call is not valid JSON ({error}). Write: {example}"))
                position = len(text)
            break
        entries = value if isinstance(value, list) else [value]
        if not entries or not all(map(_is_call, entries)):
            break
        calls += [_json_call(entry) for entry in entries]
        position = end
    return calls, text[position:]


def _is_call(value: Any) -> bool:
    if not isinstance(value, dict) or not {"name"} <= value.keys() <= _KEYS:
        return False
    return ("arguments" in value) != ("parameters" in value)


def _json_call(value: dict[str, Any]) -> Call | Malformed:
    if not isinstance(value["name"], str):
        return Malformed("The `name` of a call must be a text.")
    return named_call(value["name"], _arguments(value))
