"""`claw eval bfcl` over a real endpoint with the leaderboard's own checkers."""

from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.toolcall.bfcl.environment import interpreter
from claw_envs.toolcall.bfcl.gold import Turns, gold
from claw_envs.wire import Form
from evals.cli import main_eval

from ..endpoint import serving
from .gold import Caller

CATEGORIES = ("simple_python", "parallel", "multi_turn_base")


@pytest.fixture(scope="module")
def answers() -> tuple[list[Task], dict[str, Turns]]:
    """The first two tasks of each category, with their right calls."""
    try:
        interpreter()
    except UserError as error:
        pytest.skip(str(error))
    tasks: list[Task] = []
    calls: dict[str, Turns] = {}
    for category in CATEGORIES:
        some = load_tasks("toolcall", f"bfcl:{category}")[:2]
        tasks, calls = tasks + some, calls | gold(category, some)
    return tasks, calls


@pytest.mark.parametrize("form", ["hermes", "openai"])
def test_right_calls_are_right_and_a_dropped_one_is_wrong(
    form: Form, answers: tuple[list[Task], dict[str, Turns]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks, calls = answers
    dropped = next(task.id for task in tasks if task.metadata["category"] == "parallel")
    given = calls | {dropped: [calls[dropped][0][:-1]]}
    settings = {"categories": ",".join(CATEGORIES), "limit": 2, "form": form}
    with serving(Caller(tasks, given, form=form)) as url:
        summary = main_eval("bfcl", model=f"{url}#gold", out=tmp_path, parallel=2, settings=settings)
    assert {name: group.score for name, group in summary.groups["category"].items()} == {
        "multi_turn_base": 1.0,
        "parallel": 0.5,
        "simple_python": 1.0,
    }
    assert {name: group.score for name, group in summary.groups["section"].items()} == {
        "multi_turn": 1.0,
        "non_live": 0.75,
    }
    assert summary.score == pytest.approx((30 * 1.0 + 10 * 0.75) / 40)
    assert summary.statuses == {"COMPLETED": 6}
    assert summary.groups["category"]["simple_python"].metrics["calls"] == 1.0
    assert "multi_turn_base" in capsys.readouterr().out
