"""`RulesJudge`: deterministic, needs no model. The default of the embedded training."""

import asyncio
from collections.abc import Sequence

from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.task import Task
from judges import screens
from judges.commands import command_of
from judges.reactions import read_reaction
from judges.results import read_result

_SHELLS = ("terminal", "swe")
"""Families whose agents write shell commands."""


class RulesJudge:
    """Reads the next state by rules.

    A user's reaction is +1 (content), -1 (asks again, complains, corrects) or 0 (neither), with the user's own
    instruction as the hint; see `judges.reactions`. A tool's result is +1 or -1 by exit code or error message; one that
    says nothing of the action is an abstention; see `judges.results`. A step on a screen is -1 where it could not be
    read, failed, or changed nothing, which `raw` says; else an abstention; see `judges.screens`.
    """

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        """See `judges.base.Judge`."""
        observation = turn.observation
        if observation is None:
            return Verdict(status="abstained")
        if task.family == "gui":
            fault = await asyncio.to_thread(screens.fault, screens.look_at(turn, history))
            return Verdict(score=-1.0, votes=[-1.0], raw=[fault]) if fault else Verdict(status="abstained")
        if observation.role == "user":
            if task.verifier.kind == "bfcl":  # its users say what they say, whatever the agent did
                return Verdict(status="abstained")
            asked = [str(message["content"]) for message in turn.conversation if message.get("role") == "user"]
            score, hint = read_reaction(observation.text, earlier=asked)
        else:
            command = command_of(turn) if task.family in _SHELLS else ""
            score, hint = read_result(observation, command), None
        if score is None:
            return Verdict(status="abstained")
        return Verdict(score=score, votes=[score], hint=hint)
