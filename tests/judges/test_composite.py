"""Outcome, composite and combined judges."""

import asyncio
from collections.abc import Sequence

import pytest

from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.task import Task
from judges import CombinedJudge, CompositeJudge, Judge, OutcomeJudge, RulesJudge

from .turns import CHAT, chat_turn

FAILED = Verdict(status="failed", error="gone")


class Fixed:
    """Gives one verdict."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        return self.verdict


def judged(judge: Judge, turn: Turn) -> Verdict:
    return asyncio.run(judge.judge(turn, [], CHAT))


def last(reward: float) -> Turn:
    return chat_turn("Thanks!", reward=reward, timings={"step": 0.1, "verify": 0.1})


def test_the_outcome_counts_where_the_verifier_ran() -> None:
    assert judged(OutcomeJudge(), last(0.0)) == Verdict(score=0.0, votes=[0.0])
    assert judged(OutcomeJudge(), last(1.0)).score == 1.0
    assert judged(OutcomeJudge(), chat_turn("Thanks!")).status == "abstained"


@pytest.mark.parametrize(
    ("votes", "turn", "score"),
    [
        ([1.0, None, 0.0], last(1.0), 1.5),
        ([1.0, None, 0.0], chat_turn("x"), 0.5),
        ([None], last(-1.0), -1.0),
        ([None], chat_turn("x"), None),
    ],
)
def test_outcome_and_the_mean_of_the_votes(votes: list[float | None], turn: Turn, score: float | None) -> None:
    process = Fixed(Verdict(score=None, votes=votes, raw=["a"], cost=5, hint="shorter"))
    verdict = judged(CompositeJudge(process), turn)
    assert (verdict.score, verdict.votes, verdict.cost, verdict.raw) == (score, votes, 5, ["a"])
    assert verdict.status == ("abstained" if score is None else "ok")
    assert verdict.hint == "shorter"


def test_a_failed_part_is_left_out_and_told() -> None:
    verdict = judged(CompositeJudge(Fixed(FAILED)), last(1.0))
    assert (verdict.score, verdict.status, verdict.error) == (1.0, "ok", "gone")
    verdict = judged(CompositeJudge(Fixed(FAILED)), chat_turn("x"))
    assert (verdict.score, verdict.status) == (None, "failed")


def test_score_and_hint_of_different_judges() -> None:
    hinting = Fixed(Verdict(hint="Be brief, please.", votes=[1.0], raw=["h"], cost=3))
    verdict = judged(CombinedJudge(score=RulesJudge(), hint=hinting), chat_turn("No, shorter please."))
    assert (verdict.score, verdict.votes, verdict.hint) == (-1.0, [-1.0], "Be brief, please.")
    assert (verdict.raw, verdict.cost, verdict.status) == (["h"], 3, "ok")


@pytest.mark.parametrize(
    ("score", "hint", "status"),
    [
        (FAILED, Verdict(hint="Be brief, please."), "ok"),
        (Verdict(score=0.0, votes=[0.0]), FAILED, "ok"),
        (FAILED, Verdict(status="abstained"), "failed"),
        (Verdict(status="abstained"), Verdict(status="abstained"), "abstained"),
    ],
)
def test_status_of_a_combination(score: Verdict, hint: Verdict, status: str) -> None:
    verdict = judged(CombinedJudge(score=Fixed(score), hint=Fixed(hint)), chat_turn("x"))
    assert (verdict.status, verdict.score, verdict.hint) == (status, score.score, hint.hint)
    assert (verdict.error == "gone") == (FAILED in (score, hint))
