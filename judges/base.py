"""What a judge is: it reads the next state that an action produced and says how good the action was."""

from collections.abc import Sequence
from typing import Protocol

from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.task import Task


class Judge(Protocol):
    """Judges one turn by the observation that came after it."""

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        """
        Args:
            turn: the turn to judge; `turn.observation` is the next state.
            history: the turns of the same episode before it.
            task: what the agent was asked to do.

        Returns:
            The verdict. A judge that has nothing to say abstains (`score` None); one that could not be asked returns
            status `failed`. It raises only for bugs and a user's mistakes.
        """
        ...
