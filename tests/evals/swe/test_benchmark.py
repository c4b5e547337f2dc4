"""`claw eval swebench` over a real endpoint, in the real environment, with the real tests."""

import json
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.swe.instance import instance_of
from evals.cli import main_eval, read_options
from evals.results import ResultFile
from evals.swe.benchmark import SweOptions, labels
from evals.view import write_page

from ..endpoint import serving
from .engineer import Engineer

TASKS = load_tasks("swe")[:2]


def test_episodes_figures_predictions_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engineer = Engineer(TASKS[0])
    settings: dict[str, Any] = {"limit": 2, "max_steps": 3, "price_in": "1000000", "price_out": "2000000"}
    with serving(engineer) as url:
        summary = main_eval("swebench", model=f"{url}#org/code", out=tmp_path, parallel=2, settings=settings)
        asked = engineer.asked
        again = main_eval("swebench", model=f"{url}#org/code", out=tmp_path, parallel=2, settings=settings)
    assert (asked, engineer.asked, again.resumed) == (2 + 3, 5, 2)
    results = {task_id: result for (task_id, _), result in ResultFile(tmp_path / "episodes.jsonl").results.items()}
    solved, lost = (results[task.id] for task in TASKS)
    assert (solved.score, solved.ending, lost.score, lost.ending) == (1.0, "resolved", 0.0, "malformed only"), (
        solved,
        lost,
    )
    assert (summary.score, summary.interval) == (0.5, "wilson")
    assert summary.statuses == {"COMPLETED": 1, "TRUNCATED": 1}
    assert summary.endings == {"resolved": 1, "malformed only": 1}
    assert summary.groups["repo"][TASKS[0].metadata["repo"]].score == 1.0
    assert summary.metrics["cost"] == 1.5 * (5 / 2) * 2  # the endpoint counts one token of each
    assert summary.metrics["total_cost"] == 15.0
    assert (solved.metrics["steps"], lost.metrics["malformed"], solved.metrics["fail_to_pass"]) == (2.0, 3.0, 1.0)
    rows = [json.loads(line) for line in (tmp_path / "predictions.jsonl").read_text().splitlines()]
    assert [(row["instance_id"], row["model_name_or_path"]) for row in rows] == [
        (task.id, "org/code") for task in TASKS
    ]
    assert rows[0]["model_patch"] == solved.report["patch"] != ""
    assert rows[1]["model_patch"] == ""
    assert "malformed only" in capsys.readouterr().out
    assert TASKS[0].id in write_page(tmp_path).read_text()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"price_in": "1"}, "a cost needs both price_in and price_out"),
        ({"price_in": "nan", "price_out": "1"}, "must be numbers from 0 up"),
        ({"price_in": "1", "price_out": "-1"}, "must be numbers from 0 up"),
        ({"harness_workers": "0"}, "harness_workers must be at least 1"),
        ({"limit": "0"}, "samples and limit must be at least 1"),
        ({"harness": "perhaps"}, "swebench: Expected `bool`"),
    ],
)
def test_mistakes_are_one_clear_line(settings: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        main_eval("swebench", model="http://127.0.0.1:1/v1#m", out=tmp_path, settings=settings)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("tools", "passed"),
    [(None, None), ("true", True), ("False", False), ("none", False), ("view_file, submit", ["view_file", "submit"])],
)
def test_tools_are_named_with_commas(tools: str | None, passed: object) -> None:
    options = read_options("swebench", {"tools": tools})
    assert isinstance(options, SweOptions)
    assert options.env_kwargs().get("tools") == passed


def test_tasks_are_grouped_by_repository_and_difficulty_where_there_is_one() -> None:
    assert labels(TASKS[0])["repo"] == instance_of(TASKS[0]).repo
    assert labels(Task(id="a", family="swe", instruction="", verifier=TASKS[0].verifier)) == {}
