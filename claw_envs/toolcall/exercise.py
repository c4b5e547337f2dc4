"""What one kind of task does with the agent's messages: answering a question with tools, a function-calling test."""

from typing import Any, Protocol

from claw_envs.core.env import Outcome, Step
from claw_envs.core.episode import Observation
from claw_envs.core.task import Task
from claw_envs.sandbox.lease import Lease
from claw_envs.wire.calls import Parsed


class Exercise(Protocol):
    """One episode at a time of one kind of task. Used on one event loop."""

    tools: tuple[dict[str, Any], ...]
    """Of the episode, as OpenAI function schemas."""
    system_prompt: str
    """Of the episode; empty where there is nothing to say."""
    code_tool: str | None
    """The tool that blocks of code are for; None where they are text."""
    uses_sandbox: bool
    """Whether the task's sandbox, where it has one, is taken before `start`."""

    async def start(self, task: Task, lease: Lease) -> Observation:
        """Prepare `task`. May be called again without `close` in between.

        Raises:
            InfrastructureError: if it cannot be prepared now.
            UserError: if the task is none of this kind.
        """
        ...

    async def act(self, message: Parsed, *, timeout: float) -> Step:
        """Carry out a message within `timeout` seconds.

        Raises:
            InfrastructureError: if what it runs on is gone.
        """
        ...

    async def verify(self) -> Outcome:
        """Score the ended episode: 1.0 or -1.0, with `correct` in the report.

        Raises:
            InfrastructureError: if there is no verdict.
        """
        ...

    async def close(self) -> None:
        """Release what the episode held. May be called again."""
        ...
