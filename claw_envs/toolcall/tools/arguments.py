"""Whether arguments fit a JSON schema (Draft 2020-12, or the one that it names), told in one line.

Not covered: a reference out of the schema's own document, which is never fetched, and `format`, which is not checked.
"""

import itertools
import json
import re
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.toolcall.tools.schema import takes
from claw_envs.toolcall.tools.text import inline

MAX_DEPTH = 32
MAX_VALUES = 10_000
"""Values, nested ones too, that one call's arguments may have."""
MAX_UNIQUE = 250
"""Items of a list whose items must differ: each may have to be compared with each."""
_MAX_ERRORS = 100
"""Errors of which the most telling one is told."""
_OPEN = {"additionalProperties", "unevaluatedProperties", "patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"}
"""Keywords that say themselves what further properties there may be."""


class ArgumentCheck:
    """Checks arguments against the `parameters` of a tool.

    Where the schema does not speak of further properties, there may be none: an agent that misspells an optional
    argument is told so.
    """

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        """
        Args:
            name: of the tool, for messages.
            parameters: JSON schema of an object.

        Raises:
            UserError: if it is no valid schema, or refers to what it does not hold.
        """
        try:
            import jsonschema
            import referencing
        except ModuleNotFoundError as error:
            raise UserError(f'tools with a JSON schema need {error.name}: pip install "claw-envs[toolcall]"') from error
        closed = parameters if _OPEN & parameters.keys() else parameters | {"additionalProperties": False}
        kind = jsonschema.validators.validator_for(parameters, default=jsonschema.Draft202012Validator)
        try:
            kind.check_schema(parameters)
        except (jsonschema.SchemaError, RecursionError) as error:
            where = getattr(error, "json_path", "$")
            raise UserError(
                f"{name}: its parameters are no JSON schema: {inline(getattr(error, 'message', error))} (at {where})"
            ) from error
        self._best_match = jsonschema.exceptions.best_match
        rules = {"uniqueItems": _few_unique(kind.VALIDATORS["uniqueItems"])}
        limited: Any = jsonschema.validators.extend(kind, rules)  # type: ignore[no-untyped-call]
        self._validator = limited(closed, registry=referencing.Registry())
        _check_references(name, parameters)
        self._takes = takes(parameters)

    def problem(self, arguments: dict[str, Any]) -> str | None:
        """What is wrong with `arguments`, and what would be right; None where they fit."""
        if too_big := _too_big(arguments):
            return f"{too_big} {self._takes}"
        error = self._best_match(itertools.islice(self._validator.iter_errors(arguments), _MAX_ERRORS))
        return None if error is None else f"{_told(error)} {self._takes}"


def _told(error: Any) -> str:
    """A validation error in one line that names the argument."""
    path = inline(error.json_path.removeprefix("$").removeprefix("."), 100)
    where = f"in argument `{path}`: " if path else ""
    instance, value = error.instance, error.validator_value
    if error.validator == "required":
        missing = next((name for name in value if name not in instance), "?")
        return f"{where}the argument `{missing}` is missing."
    if error.validator == "additionalProperties" and value is False:
        known = error.schema.get("properties", {})
        extra = next((name for name in instance if name not in known), "?")
        return f"{where}there is no argument `{inline(extra, 64)}`."
    return f"{f'argument `{path}`' if path else 'the arguments'}: {inline(error.message)}."


def _too_big(arguments: dict[str, Any]) -> str | None:
    """Why the arguments are not even looked at, where they are too deep or too many."""
    level: list[Any] = [arguments]
    count = 0
    for _ in range(MAX_DEPTH):
        count += len(level)
        if count > MAX_VALUES:
            return f"the arguments have more than {MAX_VALUES} values."
        inner = [value for value in level if isinstance(value, dict | list)]
        if not inner:
            return None
        level = [part for value in inner for part in (value.values() if isinstance(value, dict) else value)]
    return f"the arguments are nested more than {MAX_DEPTH} levels deep."


def _few_unique(check: Any) -> Any:
    def unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Any:
        from jsonschema import ValidationError

        if wanted and isinstance(instance, list) and len(instance) > MAX_UNIQUE:
            yield ValidationError(f"has more than {MAX_UNIQUE} items")
        else:
            yield from check(validator, wanted, instance, schema)

    return unique_items


def _check_references(name: str, parameters: dict[str, Any]) -> None:
    """Complain of a reference that could not be followed when arguments are checked."""
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    resource = Resource.from_contents(parameters, default_specification=DRAFT202012)
    resolver = Registry().with_resource("", resource).resolver()
    for reference in set(re.findall(r'"\$ref": ("(?:[^"\\]|\\.)*")', json.dumps(parameters))):
        try:
            resolver.lookup(json.loads(reference))
        except Unresolvable as error:
            raise UserError(f"{name}: its schema does not hold what {reference} refers to") from error
