"""Judges made of judges: a sum of process and outcome, and a score and a hint from different sources."""

import asyncio
from collections.abc import Sequence
from statistics import fmean

from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.task import Task
from judges.base import Judge
from judges.outcome import OutcomeJudge


class CompositeJudge:
    """R_t = o_t + mean_j r_tj over the votes j of `process` that could be read; the step reward of OpenClaw-RL.

    o_t is the verdict of `outcome`. What abstains or fails is left out of the sum; where both do, so does this judge.
    It is meant for rewards that do not hold the outcome already: on top of an environment's own reward, or of the
    `step_index` signal, the outcome would count twice.
    """

    def __init__(self, process: Judge, *, outcome: Judge | None = None) -> None:
        """
        Args:
            process: its votes are averaged.
            outcome: its score is added; by default the environment's own outcome at the last step.
        """
        self._process, self._outcome = process, outcome or OutcomeJudge()

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        """See `judges.base.Judge`."""
        process, outcome = await asyncio.gather(
            self._process.judge(turn, history, task), self._outcome.judge(turn, history, task)
        )
        votes = [vote for vote in process.votes if vote is not None]
        parts = [fmean(votes)] if votes else []
        parts += [] if outcome.score is None else [outcome.score]
        verdict = _joined(process, outcome)
        verdict.score, verdict.votes, verdict.hint = (sum(parts) if parts else None), process.votes, process.hint
        if parts:
            verdict.status = "ok"
        return verdict


class CombinedJudge:
    """The score of one judge and the hint of another, asked at the same time."""

    def __init__(self, *, score: Judge, hint: Judge) -> None:
        """
        Args:
            score: gives score and votes.
            hint: gives the hint; its votes are about the hint and are left out.
        """
        self._score, self._hint = score, hint

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        """See `judges.base.Judge`. The verdict is `ok` where there is a score or a hint."""
        score, hint = await asyncio.gather(
            self._score.judge(turn, history, task), self._hint.judge(turn, history, task)
        )
        verdict = _joined(score, hint)
        verdict.score, verdict.votes, verdict.hint = score.score, score.votes, hint.hint
        if score.score is not None or hint.hint is not None:
            verdict.status = "ok"
        return verdict


def _joined(*verdicts: Verdict) -> Verdict:
    """Words, costs and errors of all; failed where any failed, else abstained."""
    failed = any(verdict.status == "failed" for verdict in verdicts)
    return Verdict(
        raw=[words for verdict in verdicts for words in verdict.raw],
        cost=sum(verdict.cost for verdict in verdicts),
        status="failed" if failed else "abstained",
        error="; ".join(verdict.error for verdict in verdicts if verdict.error) or None,
    )
