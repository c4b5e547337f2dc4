"""What an SWE episode is worth, what became of it, and what it cost."""

import asyncio
from typing import Any

import pytest

from claw_envs.core.episode import Episode, Observation, Status, Turn
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task, VerifierSpec
from evals.benchmark import Scored
from evals.results import EpisodeResult
from evals.swe.scoring import cost, score, total_cost

TASK = Task(id="a__b-1", family="swe", instruction="Fix it", verifier=VerifierSpec(kind="swebench"))
NONE: dict[str, list[str]] = {"success": [], "failure": []}


def turn(role: Any = "tool", **fields: Any) -> Turn:
    return Turn(
        episode_id="e", step=0, messages=[], response="x", observation=Observation(role=role, text=""), **fields
    )


def report(
    status: str, *, f2p: dict[str, list[str]] = NONE, p2p: dict[str, list[str]] = NONE, **more: Any
) -> dict[str, Any]:
    resolved = status == "resolved"
    return {"resolved": resolved, "status": status, "patch": "", "fail_to_pass": f2p, "pass_to_pass": p2p, **more}


def scored(report: dict[str, Any], *, status: Status = Status.COMPLETED, turns: list[Turn] | None = None) -> Scored:
    said = [turn(), turn()] if turns is None else turns
    episode = Episode(id="e", task_id=TASK.id, family="swe", turns=said, status=status, report=report)
    return asyncio.run(score(episode, TASK))


GOOD, BAD = {"success": ["t"], "failure": []}, {"success": ["t", "v"], "failure": ["u", "w"]}


@pytest.mark.parametrize(
    ("verdict", "status", "ending"),
    [
        (report("resolved", f2p=GOOD, p2p=GOOD), Status.COMPLETED, "resolved"),
        (report("resolved", f2p=GOOD, p2p=GOOD), Status.TRUNCATED, "resolved"),
        (report("unresolved", f2p=BAD, p2p=GOOD), Status.COMPLETED, "wrong fix"),
        (report("unresolved", f2p=BAD, p2p=BAD), Status.COMPLETED, "wrong fix"),
        (report("unresolved", f2p=GOOD, p2p=BAD), Status.COMPLETED, "broke tests"),
        (report("unresolved"), Status.COMPLETED, "no test result"),
        (report("timed_out"), Status.COMPLETED, "no test result"),
        (report("empty_patch"), Status.COMPLETED, "empty patch"),
        (report("patch_failed"), Status.COMPLETED, "patch failed"),
        (report("patch_too_big"), Status.COMPLETED, "patch failed"),
        (report("no_patch"), Status.COMPLETED, "patch failed"),
        (report("repository_gone"), Status.FAILED, "repository lost"),
        (report("empty_patch"), Status.TRUNCATED, "not submitted"),
        (report("unresolved", f2p=BAD), Status.TRUNCATED, "not submitted"),
    ],
)
def test_endings(verdict: dict[str, Any], status: Status, ending: str) -> None:
    result = scored(verdict, status=status)
    assert (result.score, result.ending) == (float(ending == "resolved"), ending)
    assert result.metrics["submitted"] == float(status is Status.COMPLETED)


def test_an_agent_that_never_wrote_a_readable_message() -> None:
    result = scored(report("empty_patch"), status=Status.TRUNCATED, turns=[turn("environment"), turn("environment")])
    assert (result.ending, result.metrics["malformed"], result.metrics["steps"]) == ("malformed only", 2.0, 2.0)
    mixed = scored(report("empty_patch"), status=Status.TRUNCATED, turns=[turn("environment"), turn()])
    assert (mixed.ending, mixed.metrics["malformed"]) == ("not submitted", 1.0)


def test_figures() -> None:
    turns = [turn(prompt_tokens=100, response_tokens=7), turn(prompt_tokens=300, response_tokens=3)]
    result = scored(report("unresolved", f2p=BAD, p2p=NONE, flaky=["t"]) | {"patch": "ü\n"}, turns=turns)
    assert result.metrics == {
        "steps": 2.0,
        "malformed": 0.0,
        "submitted": 1.0,
        "patch_bytes": 3.0,
        "flaky": 1.0,
        "fail_to_pass": 0.5,
        "prompt_tokens": 400.0,
        "response_tokens": 10.0,
    }


def test_no_verdict_is_nobody_s_failure() -> None:
    with pytest.raises(InfrastructureError, match="a__b-1: the environment's report has no verdict"):
        scored({})


def result(**metrics: float) -> EpisodeResult:
    return EpisodeResult(task_id="a", sample_index=0, seed=0, status=Status.COMPLETED, metrics=metrics)


def test_cost_is_tokens_times_prices() -> None:
    spent = result(prompt_tokens=2e6, response_tokens=5e5)
    assert cost(spent, price_in=3.0, price_out=15.0) == {"cost": 13.5}
    assert cost(spent, price_in=None, price_out=None) == {}
    assert cost(result(), price_in=3.0, price_out=15.0) == {}
    assert total_cost([result(cost=1.5), result(), result(cost=2.0)]) == {"total_cost": 3.5}
    assert total_cost([result()]) == {}
