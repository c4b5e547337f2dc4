"""Calls that BFCL counts as right, made from its answers, and the same with a mistake: what the checker is checked by.

An answer of one turn lists the values that are allowed for each argument, `""` meaning that it may be left out; the
first value is taken. A few answers name arguments that the function does not have, and these are left out. Java and
JavaScript values are written in those languages. An answer of several turns holds calls as Python text.
"""

import ast
import json
from collections.abc import Callable, Sequence
from typing import Any

from claw_envs.core.task import Task
from claw_envs.toolcall.bfcl.client import ask_once
from claw_envs.toolcall.bfcl.schemas import tool_name
from claw_envs.wire.calls import Call

Turns = list[list[Call]]
"""For each of the user's turns, the calls that it needs."""


def gold(category: str, tasks: Sequence[Task]) -> dict[str, Turns]:
    """The right calls by task id; none for a task that wants no call.

    Raises:
        UserError: if `bfcl-eval` cannot be had.
    """
    if "irrelevance" in category:
        return {task.id: [[]] for task in tasks}
    if "relevance" in category:  # any call is right
        return {task.id: [[Call(task.verifier.options["tools"][0]["function"]["name"], {})]] for task in tasks}
    rows = ask_once("answers", category)
    if "multi_turn" in category:
        return {task.id: _turns(task, rows[task.id]["answer"]) for task in tasks}
    return {task.id: [_calls(category, **rows[task.id])] for task in tasks}


# --- one turn -------------------------------------------------------------------------------------------------------


def _calls(category: str, answer: list[dict[str, Any]], functions: list[dict[str, Any]]) -> list[Call]:
    described = {function["name"]: function["parameters"]["properties"] for function in functions}
    writers: dict[str, Callable[[Any, dict[str, Any]], Any]] = {"simple_java": java, "simple_javascript": javascript}
    write = writers.get(category, _python)
    calls = []
    for name, allowed in (pair for call in answer for pair in call.items()):
        schemas = described[name]
        chosen = _chosen({key: values for key, values in allowed.items() if key in schemas})
        calls.append(Call(tool_name(name), {key: write(value, schemas[key]) for key, value in chosen.items()}))
    return calls


def _chosen(allowed: dict[str, list[Any]]) -> dict[str, Any]:
    """The first value allowed for each key. Keys of an object have such lists in their turn, but none further down."""
    return {key: _inner(value) for key, value in _firsts(allowed).items()}


def _inner(value: Any) -> Any:
    if isinstance(value, dict):
        return _firsts(value)
    if isinstance(value, list):
        return [_firsts(item) if isinstance(item, dict) else item for item in value]
    return value


def _firsts(allowed: dict[str, list[Any]]) -> dict[str, Any]:
    firsts = {key: next((value for value in values if value != ""), "") for key, values in allowed.items()}
    return {key: value for key, value in firsts.items() if value != ""}


def _python(value: Any, schema: dict[str, Any]) -> Any:
    return value


def java(value: Any, schema: dict[str, Any]) -> str:
    """A value as Java source for a parameter that BFCL describes by `schema`; a text is source already.

    >>> java([101, 202], {"type": "ArrayList", "items": {"type": "long"}})
    'new ArrayList<Long>(Arrays.asList(101L, 202L))'
    """
    inner = schema.get("items", {"type": "any"})
    match schema["type"], value:
        case _, str():
            return value
        case "HashMap", dict():
            puts = " ".join(f'put("{key}", {_java_literal(item, "any")});' for key, item in value.items())
            return f"new HashMap<String, Object>() {{{{ {puts} }}}}"
        case "ArrayList", list():
            items = ", ".join(_java_literal(item, inner["type"]) for item in value)
            return f"new ArrayList<{_BOXED.get(inner['type'], 'Object')}>(Arrays.asList({items}))"
        case "Array", list():
            items = ", ".join(_java_literal(item, inner["type"]) for item in value)
            return f"new {_ELEMENTS.get(inner['type'], 'Object')}[]{{{items}}}"
        case kind, _:
            return _java_literal(value, kind)


_BOXED = {"integer": "Integer", "long": "Long", "String": "String"}
_ELEMENTS = {"integer": "int", "long": "long", "String": "String"}


def _java_literal(value: Any, kind: str) -> str:
    suffix = {"long": "L", "float": "f"}.get(kind, "")
    return json.dumps(value, ensure_ascii=False) + (suffix if isinstance(value, int | float) else "")


def javascript(value: Any, schema: dict[str, Any]) -> str:
    """A value as JavaScript source for a parameter that BFCL describes by `schema`; a text is source already."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) + ("n" if schema["type"] == "Bigint" else "")


# --- several turns --------------------------------------------------------------------------------------------------


def _turns(task: Task, answer: list[list[str]]) -> Turns:
    options = task.verifier.options
    tools = [*options["tools"], *(tool for tools in options["later_tools"].values() for tool in tools)]
    parameters = {tool["function"]["name"]: list(tool["function"]["parameters"]["properties"]) for tool in tools}
    return [[_parsed(text, parameters) for text in turn] for turn in answer]


def _parsed(text: str, parameters: dict[str, list[str]]) -> Call:
    """A call in Python; arguments without a name get that of the parameter in their place."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call), text
    assert isinstance(call.func, ast.Name), text
    placed = dict(zip(parameters[call.func.id], call.args, strict=False))
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    return Call(call.func.id, {key: ast.literal_eval(node) for key, node in (placed | named).items()})


# --- with a mistake -------------------------------------------------------------------------------------------------


def dropped(turns: Turns) -> Turns:
    """Without the last call."""
    return _changed(turns, lambda call: [])


def wrong_value(turns: Turns) -> Turns:
    """With another value of the last call's first argument; with one argument too many where it has none."""

    def change(call: Call) -> list[Call]:
        key, value = next(iter(call.arguments.items()), ("no_such_argument", 1))
        return [call._replace(arguments=call.arguments | {key: _other(value)})]

    return _changed(turns, change)


def wrong_name(turns: Turns) -> Turns:
    """With another name in the last call."""
    return _changed(turns, lambda call: [call._replace(name=f"{call.name}_other")])


MISTAKES: dict[str, Callable[[Turns], Turns]] = {
    "dropped": dropped,
    "value": wrong_value,
    "name": wrong_name,
}


def _changed(turns: Turns, change: Callable[[Call], list[Call]]) -> Turns:
    number = max(index for index, turn in enumerate(turns) if turn)
    turn = turns[number]
    return [*turns[:number], [*turn[:-1], *change(turn[-1])], *turns[number + 1 :]]


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1009
        case str():
            return "other"
        case list():
            return [*value, *(value[:1] or ["other"])]
        case _:
            return {"other": 1}
