"""Any Python function as a tool: its signature is the schema, its docstring says what it is for.

Covered: plain and asynchronous functions, methods, `functools.partial`, objects with `__call__`; annotations that
msgspec can check (numbers, texts, `Literal`, `Enum`, `Optional`, unions, lists, dicts, `TypedDict`, `NamedTuple`,
dataclasses, structs, dates). Not covered: `*args` and `**kwargs`, which an agent cannot name, and types that JSON does
not know.
"""

import functools
import inspect
import json
import re
import typing
from collections.abc import Callable
from typing import Any

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.toolcall.tools.base import ToolResult
from claw_envs.toolcall.tools.calling import Caller
from claw_envs.toolcall.tools.docstring import read_docstring
from claw_envs.toolcall.tools.schema import function_schema, takes
from claw_envs.toolcall.tools.text import inline

_PROBLEM = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)


class FunctionTool:
    """A `Tool` that calls a Python function with arguments checked against its annotations.

    A plain function runs in a thread of its own, an asynchronous one on the event loop; see `tools.calling`. What it
    returns is told as text: a `str` as it is, else JSON, else its `repr`. An exception is told by type and message; an
    `InfrastructureError` aborts the episode.

    >>> def add(a: int, b: int = 1) -> int:
    ...     '''Add two numbers.'''
    ...     return a + b
    >>> FunctionTool(add).check({"a": "1"})
    'argument `a`: Expected `int`, got `str`. It takes a (integer), b (integer, optional).'
    """

    def __init__(
        self, function: Callable[..., Any], *, name: str | None = None, description: str | None = None
    ) -> None:
        """
        Args:
            function: what to call.
            name: the tool's; None: the function's.
            description: what the agent is told; None: the docstring's text before its first section.

        Raises:
            UserError: if no schema can be made of the signature.
        """
        inner = _innermost(function)
        self.name = name or str(getattr(inner, "__name__", type(inner).__name__))
        described = inner if hasattr(inner, "__name__") else type(inner).__call__
        docstring = read_docstring(inspect.getdoc(described) or "")
        self._parameters = _parameters(function, self.name)
        self._types = _types(described, self._parameters, self.name)
        parameters = _schema(self._parameters, self._types, docstring.parameters, self.name)
        told = docstring.description if description is None else description
        self.schema = function_schema(self.name, told, parameters)
        self._takes = takes(parameters)
        self._caller = Caller(function)

    def check(self, arguments: dict[str, Any]) -> str | None:
        """See `Tool.check`."""
        for name in arguments:
            if name not in self._parameters:
                return f"there is no argument `{inline(name, 64)}`. {self._takes}"
        for name, parameter in self._parameters.items():
            if name not in arguments and parameter.default is parameter.empty:
                return f"the argument `{name}` is missing. {self._takes}"
        try:
            self._converted(arguments)
        except msgspec.ValidationError as error:
            return f"{error} {self._takes}"
        return None

    async def call(self, arguments: dict[str, Any], *, timeout: float) -> ToolResult:
        """See `Tool.call`."""
        values = self._converted(arguments)
        positional = [
            values.pop(name, parameter.default)
            for name, parameter in self._parameters.items()
            if parameter.kind is parameter.POSITIONAL_ONLY
        ]
        return await self._caller.call(positional, values, timeout=timeout)

    def _converted(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as the function's annotations have them.

        Raises:
            msgspec.ValidationError: naming the argument that does not fit.
        """
        values = {}
        for name, value in arguments.items():
            try:
                values[name] = msgspec.convert(value, self._types[name])
            except (msgspec.ValidationError, RecursionError) as error:
                problem = _PROBLEM.fullmatch(str(error))
                assert problem is not None
                text = f"argument `{name}{inline(problem['path'] or '')}`: {inline(problem['what'])}."
                raise msgspec.ValidationError(text) from None
        return values


def _innermost(function: Any) -> Any:
    """What bears the name and the docstring: without what was bound and what decorates it."""
    if isinstance(function, functools.partial):
        return _innermost(function.func)
    if isinstance(function, type) or not callable(function):
        raise UserError(f"{function!r:.200} is no function: a tool is a function, or an object that can be called")
    return inspect.unwrap(function)


def _parameters(function: Callable[..., Any], name: str) -> dict[str, inspect.Parameter]:
    """The parameters that are the agent's to fill: all that no `partial` has bound."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise UserError(f"{name}: Python cannot tell its signature; wrap it in a function of your own") from error
    for parameter in parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UserError(
                f"{name}: an agent cannot fill `{parameter}`; name each parameter, or take a list or a dict"
            )
    bound = function.keywords if isinstance(function, functools.partial) else {}
    return {key: parameter for key, parameter in parameters.items() if key not in bound}


def _types(described: Any, parameters: dict[str, inspect.Parameter], name: str) -> dict[str, Any]:
    """The parameters' annotations; what has none may be anything."""
    try:
        hints = typing.get_type_hints(described, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        raise UserError(f"{name}: its annotations cannot be read: {error}") from error
    return {key: hints.get(key, Any) for key in parameters}


def _schema(
    parameters: dict[str, inspect.Parameter], types: dict[str, Any], told: dict[str, str], name: str
) -> dict[str, Any]:
    """The JSON schema of all parameters; what the docstring tells of one stands back behind its annotation's words."""
    properties: dict[str, dict[str, Any]] = {}
    shared: dict[str, Any] = {}
    try:
        schemas, shared = msgspec.json.schema_components(types.values(), ref_template="#/$defs/{name}")
    except TypeError as error:
        raise UserError(f"{name}: an agent cannot send that: {str(error).splitlines()[-1]}") from error
    for (key, parameter), schema in zip(parameters.items(), schemas, strict=True):
        words = _words(types[key]) or told.get(key)
        if words and "description" not in schema:
            schema["description"] = words
        properties[key] = schema | _default(parameter)
    required = [key for key, parameter in parameters.items() if parameter.default is parameter.empty]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return schema | ({"$defs": shared} if shared else {})


def _words(annotation: Any) -> str | None:
    """The text in `Annotated[int, "text"]`."""
    return next((extra for extra in getattr(annotation, "__metadata__", ()) if isinstance(extra, str)), None)


def _default(parameter: inspect.Parameter) -> dict[str, Any]:
    """The default, where there is one that JSON can say."""
    if parameter.default is parameter.empty:
        return {}
    try:
        return {"default": json.loads(msgspec.json.encode(parameter.default))}
    except (TypeError, ValueError):
        return {}
