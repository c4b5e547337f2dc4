"""JSON schemas of tools: read as users write them, told in a few words, and an example made from them.

Whether arguments fit is the business of `claw_envs.toolcall.tools.arguments`.
"""

import json
import re
from typing import Any

from claw_envs.core.errors import UserError

_NAME = re.compile(r"[\w.:/-]{1,128}", re.ASCII)
_DEEPEST = 4
"""Levels of a schema that are told."""
_EXAMPLES: dict[str, Any] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "null": None}


def function_schema(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """An OpenAI function schema.

    Raises:
        UserError: if no model could call a tool of that name.
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"a tool's name is 1 to 128 letters, digits or _ - . : /, got {name!r}")
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def read_schema(schema: Any) -> dict[str, Any]:
    """An OpenAI function schema from one, or from its inner part: `{"name", "description", "parameters"}`.

    The parameters may also be called `inputSchema` or `input_schema`, as MCP and Anthropic do.

    Raises:
        UserError: if it is neither.
    """
    inner = schema.get("function", schema) if isinstance(schema, dict) else None
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        raise UserError(
            f'a tool\'s schema is {{"name": ..., "description": ..., "parameters": ...}}, got {schema!r:.200}'
        )
    given = [inner[key] for key in ("parameters", "inputSchema", "input_schema") if inner.get(key)]
    parameters = given[0] if given else {"type": "object", "properties": {}}
    if not isinstance(parameters, dict) or parameters.get("type", "object") != "object":
        raise UserError(
            f'{inner["name"]}: `parameters` must be a JSON schema of "type": "object", got {parameters!r:.200}'
        )
    return function_schema(inner["name"], str(inner.get("description") or ""), {"type": "object", **parameters})


def takes(parameters: dict[str, Any]) -> str:
    """The parameters in one line.

    >>> takes({"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]})
    'It takes city (string), days (integer, optional).'
    """
    required = parameters.get("required", [])
    entries = [
        f"{name} ({_kind(schema, parameters)}{'' if name in required else ', optional'})"
        for name, schema in parameters.get("properties", {}).items()
    ]
    return f"It takes {', '.join(entries) or 'nothing'}."


def example(parameters: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the right types: the schema's own examples and defaults where it has them.

    >>> example({"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]})
    {'city': 'text'}
    """
    required = parameters.get("required", [])
    return {
        name: _example(schema, parameters, depth=0)
        for name, schema in parameters.get("properties", {}).items()
        if name in required
    }


def typed(arguments: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a wire form that knows only texts, with those read as JSON that are not meant to be texts.

    >>> typed({"city": "7", "days": "7"}, {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}})
    {'city': '7', 'days': 7}
    """
    kinds = {name: _kind(schema, parameters) for name, schema in parameters.get("properties", {}).items()}
    return {
        name: _read(value) if isinstance(value, str) and "string" not in kinds.get(name, "string") else value
        for name, value in arguments.items()
    }


def _read(text: str) -> Any:
    try:
        return json.loads({"True": "true", "False": "false", "None": "null"}.get(text.strip(), text))
    except (ValueError, RecursionError):
        return text


def _kind(schema: Any, root: dict[str, Any], *, depth: int = 0) -> str:
    """What a schema allows, in a few words; one that refers to itself is not followed for ever."""
    schema = _followed(schema, root)
    if "const" in schema or "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema.get("enum", [schema.get("const")]))
    if (options := schema.get("anyOf", schema.get("oneOf"))) and depth < _DEEPEST:
        return " or ".join(dict.fromkeys(_kind(option, root, depth=depth + 1) for option in options))
    kind = schema.get("type", "anything")
    if kind == "array" and "items" in schema and depth < _DEEPEST:
        return f"array of {_kind(schema['items'], root, depth=depth + 1)}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _example(schema: Any, root: dict[str, Any], *, depth: int) -> Any:
    schema = _followed(schema, root)
    if "const" in schema:
        return schema["const"]
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    if "default" in schema:
        return schema["default"]
    if depth > _DEEPEST:
        return None
    if options := schema.get("anyOf", schema.get("oneOf")):
        return _example(options[0], root, depth=depth + 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        return [_example(schema["items"], root, depth=depth + 1)] if "items" in schema else []
    if kind == "object":
        required = schema.get("required", [])
        properties = schema.get("properties", {})
        return {name: _example(properties.get(name, {}), root, depth=depth + 1) for name in required}
    return _EXAMPLES.get(str(kind), "text")


def _followed(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    """`schema`, or what it refers to in the same document; no constraints where that is not to be had."""
    for _ in range(8):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            break
        schema = root
        for part in reference.removeprefix("#/").split("/"):
            schema = schema.get(part, {}) if isinstance(schema, dict) else {}
    return schema if isinstance(schema, dict) else {}
