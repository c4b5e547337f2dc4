"""What a simulated user is: it opens a conversation, reacts to each reply, and never states its preference up front."""

from typing import NamedTuple, Protocol

import numpy as np

from claw_envs.core.task import Task


class Reaction(NamedTuple):
    """The user's answer to one reply.

    Attributes:
        text: what the user says; all that the agent and the judges see.
        kind: `thanks`, `reask`, `vague`, `correction`, `wrong` (a correction because only the number was wrong),
            `unrelated`, or an LLM's own `content`, `not content`.
        content: whether the user liked the reply.
        done: whether the user leaves the matter there.
    """

    text: str
    kind: str
    content: bool
    done: bool


class Simulator(Protocol):
    """A user. One object serves one conversation after another."""

    async def open(self, task: Task, *, rng: np.random.Generator) -> str:
        """Begin a conversation about `task`; `rng` decides everything that is left to chance in it.

        Returns:
            The first message.
        """
        ...

    async def react(self, reply: str) -> Reaction:
        """Read the agent's reply and answer it.

        Raises:
            InfrastructureError: if the user cannot be simulated any further.
        """
        ...

    async def aclose(self) -> None:
        """Release what it holds. May be called again."""
        ...
