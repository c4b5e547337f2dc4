"""Tools from JSON schemas, carried out by a handler of the user's."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from claw_envs.toolcall.tools.arguments import ArgumentCheck
from claw_envs.toolcall.tools.base import ToolResult
from claw_envs.toolcall.tools.calling import Caller
from claw_envs.toolcall.tools.schema import read_schema


class SchemaTool:
    """A `Tool` with a given schema, whose calls go to `handler(arguments)`.

    What the handler returns and raises is told as for a function; see `claw_envs.toolcall.tools.function`.
    """

    def __init__(self, schema: dict[str, Any], handler: Callable[[dict[str, Any]], Any]) -> None:
        """
        Args:
            schema: an OpenAI function schema, or its inner part: `{"name", "description", "parameters"}`.
            handler: plain or asynchronous; gets arguments that fit the schema.

        Raises:
            UserError: if the schema is none.
        """
        self.schema = read_schema(schema)
        function = self.schema["function"]
        self.name: str = function["name"]
        self._arguments = ArgumentCheck(self.name, function["parameters"])
        self._caller = Caller(handler)

    def check(self, arguments: dict[str, Any]) -> str | None:
        """See `Tool.check`."""
        return self._arguments.problem(arguments)

    async def call(self, arguments: dict[str, Any], *, timeout: float) -> ToolResult:
        """See `Tool.call`."""
        return await self._caller.call([arguments], {}, timeout=timeout)


def schema_tools(schemas: Sequence[dict[str, Any]], handler: Callable[[str, dict[str, Any]], Any]) -> list[SchemaTool]:
    """Tools with given schemas, whose calls all go to `handler(name, arguments)`.

    Raises:
        UserError: if a schema is none.
    """
    read = [read_schema(schema) for schema in schemas]
    return [SchemaTool(schema, functools.partial(handler, schema["function"]["name"])) for schema in read]
