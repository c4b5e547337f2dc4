"""What a tool is: a name, a schema, a check of arguments that never raises, and the call itself."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from claw_envs.sandbox.lease import Lease


class ToolResult(NamedTuple):
    """What one call gave."""

    text: str
    error: bool = False
    """The tool ran, or was asked to, and failed: the agent's call did not do what it was meant to."""
    head: str | None = None
    """What the header says in place of `ok` or `error`, such as `stopped after 5 s`."""


@runtime_checkable
class Tool(Protocol):
    """Something that the agent may call by name. Used on one event loop."""

    name: str
    schema: dict[str, Any]
    """As an OpenAI function schema: `{"type": "function", "function": {"name", "description", "parameters"}}`."""

    def check(self, arguments: dict[str, Any]) -> str | None:
        """What is wrong with the arguments, in one line that says what would be right; None where they are fine."""
        ...

    async def call(self, arguments: dict[str, Any], *, timeout: float) -> ToolResult:
        """Carry out a call whose arguments were checked. A fault of the tool's comes back as a result.

        Args:
            timeout: seconds after which the call is given up, with a result that says so.

        Raises:
            InfrastructureError: if what the tool runs on is gone.
        """
        ...


@runtime_checkable
class ToolSource(Protocol):
    """What brings the tools of an episode: a sandbox's interpreter, a server, functions. One an environment.

    The task's sandbox is taken for it, unless it has an attribute `uses_sandbox` that is False.
    """

    async def start(self, lease: Lease) -> list[Tool]:
        """Begin an episode. May be called again without `close` in between.

        Args:
            lease: the environment's sandbox; taken where the task has one, empty where it has none.

        Returns:
            The tools, fresh: nothing of an earlier episode is in them.

        Raises:
            InfrastructureError: if they cannot be had now.
            UserError: if they can never be had this way.
        """
        ...

    async def close(self) -> None:
        """Release everything. May be called again, and before `start` is called again."""
        ...
