"""`OutcomeJudge`: the environment's own outcome, as the verdict on the episode's last step."""

from collections.abc import Sequence

from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.task import Task


class OutcomeJudge:
    """Scores the step at which the verifier ran (its `timings` hold `verify`) by that step's reward; else abstains."""

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        """See `judges.base.Judge`."""
        if "verify" not in turn.timings:
            return Verdict(status="abstained")
        return Verdict(score=turn.reward, votes=[turn.reward])
