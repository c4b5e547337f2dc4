"""What each kind of task provides: how it is set up on a screen, when it ends by itself, how it is scored."""

from typing import NamedTuple, Protocol

from claw_envs.core.env import Outcome
from claw_envs.core.task import Task
from claw_envs.gui.acts import Ending, ScreenAct


class Said(NamedTuple):
    """What an episode was, as far as a verifier may want to know."""

    ending: Ending | None
    """How the agent ended it; None at a limit, and where the page did."""
    acts: tuple[ScreenAct, ...] = ()
    """All that was carried out."""


def name_of(ending: Ending | None) -> str:
    """How an episode ended, in a word: `done`, `fail`, `answer`, or `limit` where the agent did not end it."""
    return "limit" if ending is None else type(ending).__name__.lower()


class Scenario(Protocol):
    """One kind of task, over one episode at a time on one screen."""

    async def prepare(self, task: Task, *, seed: int) -> str:
        """Open the screen for `task` and bring it into the task's first state; returns the instruction.

        Raises:
            InfrastructureError: if that fails; the screen is closed then.
            UserError: see `Screen.open`.
        """
        ...

    async def ended(self) -> bool:
        """Whether the task ended by itself, as a page does that gives its reward at once. Asked after every act."""
        ...

    async def verify(self, said: Said) -> Outcome:
        """Score what is there now.

        Raises:
            InfrastructureError: if there is no verdict.
        """
        ...

    async def close(self) -> None:
        """Let the screen and everything else go. May be called again."""
        ...
