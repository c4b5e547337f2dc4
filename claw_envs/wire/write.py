"""Calls written as a model would write them: what `claw_envs.wire.read` reads, in every form.

JSON carries every text: where one spells out a tag that ends a call or a thought, its `<` is escaped. XML and code have
no escapes, so that they cannot carry everything.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from claw_envs.core.episode import Message
from claw_envs.wire.calls import Call, Form

_TAGS = re.compile(r"<(?=/?(?:think|tool_call)>|\|python_tag\|>)")
_FENCES = re.compile("`{3,}+")


def write(calls: Sequence[Call], form: Form) -> str | Message:
    """`calls` in `form`: a message for `openai`, else a text.

    Args:
        calls: for `code` and `fenced`, those whose only argument is `code`, a text; their names are not written. For
            `hermes`, one that is not `typed` is written as XML. Calls without an id are numbered in `openai`; no other
            form has ids.

    Raises:
        ValueError: if the form cannot carry a call.

    >>> write([Call("python", {"code": "1 + 1"})], "hermes")
    '<tool_call>\\n{"name": "python", "arguments": {"code": "1 + 1"}}\\n</tool_call>'
    """
    match form:
        case "openai":
            entries = [_openai(call, call.id or f"call_{i}") for i, call in enumerate(calls, 1)]
            return {"role": "assistant", "content": "", "tool_calls": entries}
        case "hermes":
            return "\n".join(f"<tool_call>\n{_tagged(call)}\n</tool_call>" for call in calls)
        case "llama3":
            return "; ".join(_json({"name": call.name, "parameters": call.arguments}) for call in calls)
        case "code":
            return "\n".join(f"<code>\n{_inside(_code(call))}\n</code>" for call in calls)
        case "fenced":
            return "\n".join(_fenced(_code(call)) for call in calls)


def _openai(call: Call, call_id: str) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": _json(call.arguments)},
    }


def _tagged(call: Call) -> str:
    return _json({"name": call.name, "arguments": call.arguments}) if call.typed else _xml(call)


def _xml(call: Call) -> str:
    parts = [call.name, *call.arguments, *call.arguments.values()]
    ends = ("</parameter>", "</function>", "</tool_call>", "</think>")
    if not all(isinstance(part, str) and not any(end in part for end in ends) for part in parts):
        raise ValueError("XML carries texts that spell out none of its own tags")
    inner = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in call.arguments.items())
    return f"<function={call.name}>\n{inner}</function>"


def _json(value: Any) -> str:
    return _TAGS.sub(r"\\u003c", json.dumps(value, ensure_ascii=False))


def _code(call: Call) -> str:
    code = call.arguments.get("code")
    if len(call.arguments) != 1 or not isinstance(code, str) or not code.strip() or "</think>" in code:
        raise ValueError("this form carries one argument, `code`: a text that is not empty and ends no thought")
    return code


def _inside(code: str) -> str:
    return _fenced(code) if "</code>" in code or code.lstrip().startswith("```") else code


def _fenced(code: str) -> str:
    longest = max((len(found[0]) for found in _FENCES.finditer(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}python\n{code}\n{fence}"
