"""What episodes are worth, and what became of them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.episode import Episode, Observation, Status, Turn
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task, VerifierSpec
from evals.gui.official import write_official
from evals.gui.options import OsworldOptions
from evals.gui.scoring import score
from evals.results import EpisodeResult

TASK = Task(id="shop/x", family="gui", instruction="", verifier=VerifierSpec(kind="webapp"))


def turn(text: str, role: Any = "tool", **more: Any) -> Turn:
    return Turn(episode_id="e", step=0, messages=[], response="", observation=Observation(role=role, text=text), **more)


TURNS = [
    turn("[ok]\nhow to read error: codes", prompt_tokens=10, response_tokens=2),
    turn("[1/2 click | ok]\n[2/2 click | error: there is no element 9]", prompt_tokens=30, response_tokens=4),
    turn("[error: that was no call]", role="environment"),
]


def episode(report: dict[str, Any], turns: list[Turn] = TURNS, outcome: float = -1.0) -> Episode:
    return Episode(
        id="e", task_id="t", family="gui", turns=turns, outcome=outcome, report=report, status=Status.COMPLETED
    )


def test_the_figures() -> None:
    report = {"success": False, "score": 0.25, "ending": "done"}
    scored = asyncio.run(score(episode(report), TASK, figure="score"))
    assert scored.score == 0.25
    assert scored.metrics == {
        "success": 0.0,
        "reward": -1.0,
        "steps": 3.0,
        "malformed": 1.0,
        "errors": 1.0,
        "prompt_tokens": 40.0,
        "response_tokens": 6.0,
    }
    assert asyncio.run(score(episode(report), TASK, figure="success")).score == 0.0


@pytest.mark.parametrize(
    ("report", "turns", "ending"),
    [
        ({"success": True, "ending": "fail"}, TURNS, "solved"),
        ({"success": False, "ending": "limit"}, TURNS[2:], "malformed only"),
        ({"success": False, "ending": "limit"}, TURNS, "not done"),
        ({"success": False, "ending": "limit"}, [], "not done"),
        ({"success": False, "ending": "done"}, TURNS, "done too early"),
        ({"success": False, "ending": "fail"}, TURNS, "gave up"),
        ({"success": False, "ending": "answer"}, TURNS, "wrong answer"),
        ({"success": False, "ending": "page"}, TURNS, "page said no"),
    ],
)
def test_what_became_of_an_episode(report: dict[str, Any], turns: list[Turn], ending: str) -> None:
    assert asyncio.run(score(episode(report | {"score": 0.0}, turns), TASK, figure="success")).ending == ending


def test_a_context_that_was_full_is_an_ending_of_its_own() -> None:
    full = episode({"success": False, "score": 0.0, "ending": "limit"}, [])
    full.status, full.error = Status.TRUNCATED, "the model's context was full"
    assert asyncio.run(score(full, TASK, figure="success")).ending == "context full"


def test_an_episode_without_a_verdict_is_infrastructure_s() -> None:
    with pytest.raises(InfrastructureError, match="shop/x: the environment's report has no verdict"):
        asyncio.run(score(episode({}), TASK, figure="success"))


def test_osworld_s_own_layout_of_results(tmp_path: Path) -> None:
    def result(task_id: str, index: int, value: float | None) -> EpisodeResult:
        status = Status.ABORTED if value is None else Status.COMPLETED
        return EpisodeResult(task_id=task_id, sample_index=index, seed=0, status=status, score=value)

    results = [result("a b", 0, 1.0), result("a b", 1, 0.5), result("c", 0, 0.0), result("d", 0, None)]
    labels = {task_id: {"domain": "os/../x"} for task_id in ("a b", "c", "d")}
    options = OsworldOptions(actions="computer_13", images=3, observe="screenshot")
    write_official(tmp_path, "http://host/v1#org/model", results, options, labels)
    found = {str(file.relative_to(tmp_path)): file.read_text() for file in tmp_path.rglob("*") if file.is_file()}
    top = "osworld/computer_13/screenshot/http-host-v1-org-model/os-..-x"
    assert found == {f"{top}/a-b/result.txt": "0.75\n", f"{top}/c/result.txt": "0.0\n"}
