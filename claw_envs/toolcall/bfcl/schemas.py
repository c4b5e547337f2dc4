"""Function descriptions of BFCL as OpenAI schemas, with the names that OpenAI allows.

The checker is told that `.` in names became `_`, so that names go back to it as the agent wrote them.
"""

from collections.abc import Sequence
from typing import Any

_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string", "": "string"}
"""Types that JSON schema calls something else. `any` is a text, as for the checker."""


def tools(functions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """OpenAI schemas of functions.

    >>> tools([{"name": "math.add", "description": "Adds.", "parameters": {"type": "dict", "properties": {}}}])
    [{'type': 'function', 'function': {'name': 'math_add', 'description': 'Adds.', 'parameters': {'type': 'object', \
'properties': {}}}}]
    """
    return [{"type": "function", "function": _function(function)} for function in functions]


def tool_name(name: str) -> str:
    """The name of a function as the agent knows it."""
    return name.replace(".", "_")


def _function(function: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": tool_name(function["name"]),
        "description": function["description"],
        "parameters": _schema(function["parameters"]),
    }


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with JSON's types, all the way down; whether a parameter is optional is said by `required` alone."""
    kind = schema.get("type", "string")
    changed = {key: value for key, value in schema.items() if key != "optional"} | {"type": _TYPES.get(kind, kind)}
    if "items" in schema:
        changed["items"] = _schema(schema["items"])
    if "properties" in schema:
        changed["properties"] = {name: _schema(value) for name, value in schema["properties"].items()}
    return changed
