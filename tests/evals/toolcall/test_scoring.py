"""What an episode is worth, and how its use of tools is counted."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal, cast

import pytest

from claw_envs.core.episode import Episode, Observation, Status, Turn
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task, VerifierSpec
from evals.benchmark import Scored
from evals.toolcall.scoring import score

TASK = Task(id="t", family="toolcall", instruction="q", verifier=VerifierSpec(kind="answer"))
RAN, FAILED, UNREAD, ENDED, USER = (
    Observation(role="tool", text="[ok]", exit_code=0),
    Observation(role="tool", text="[error]", exit_code=1),
    Observation(role="environment", text="[not run]"),
    Observation(role="environment", text="The answer is being checked."),
    Observation(role="user", text="And now?"),
)


def scored(
    *observations: Observation, report: dict[str, Any], status: Literal[Status.COMPLETED, Status.TRUNCATED]
) -> Scored:
    turns = [
        Turn(episode_id="e", step=step, messages=[], response="r", observation=observation)
        for step, observation in enumerate(observations)
    ]
    episode = Episode(id="e", task_id="t", family="toolcall", turns=turns, status=status, outcome=-0.6, report=report)
    return asyncio.run(cast(Coroutine[Any, Any, Scored], score(episode, TASK)))


def test_the_score_is_the_verdict_and_not_the_outcome() -> None:
    right = scored(RAN, ENDED, report={"correct": True, "calls": 3}, status=Status.COMPLETED)
    assert right.score == 1.0
    assert right.metrics == {"steps": 2.0, "calls": 3.0, "called": 1.0, "truncated": 0.0, "valid_calls": 1.0}
    wrong = scored(ENDED, report={"correct": False, "calls": 0}, status=Status.COMPLETED)
    assert wrong == Scored(0.0, {"steps": 1.0, "calls": 0.0, "called": 0.0, "truncated": 0.0})


def test_calls_that_failed_are_valid_and_those_that_could_not_be_read_are_not() -> None:
    report = {"correct": False, "calls": 2}
    assert scored(RAN, FAILED, UNREAD, ENDED, report=report, status=Status.COMPLETED).metrics["valid_calls"] == 2 / 3


def test_the_last_message_of_an_episode_that_a_limit_ended_is_no_answer() -> None:
    cut = scored(RAN, UNREAD, report={"correct": False, "calls": 1}, status=Status.TRUNCATED)
    assert (cut.metrics["truncated"], cut.metrics["valid_calls"]) == (1.0, 0.5)


def test_the_end_of_a_turn_is_no_call() -> None:
    several = scored(RAN, USER, ENDED, report={"correct": True, "calls": 1}, status=Status.COMPLETED)
    assert several.metrics["valid_calls"] == 1.0


def test_an_episode_that_left_no_room_for_a_message_scores_0() -> None:
    silent = scored(report={"correct": False, "calls": 0}, status=Status.TRUNCATED)
    assert silent == Scored(0.0, {"steps": 0.0, "calls": 0.0, "called": 0.0, "truncated": 1.0})


def test_no_verdict_is_no_score() -> None:
    with pytest.raises(InfrastructureError, match="t: the environment's report has no verdict"):
        scored(ENDED, report={}, status=Status.COMPLETED)
