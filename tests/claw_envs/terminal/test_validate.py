"""Validation: the built-in tasks are sound, and an unsound task is told from a sound one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.terminal.validate import validate_tasks

MakeTask = Callable[..., Path]
PASS = "echo 1 > /logs/verifier/reward.txt\n"


def test_every_built_in_task_is_sound() -> None:
    reports = validate_tasks(None, parallel=4)
    assert len(reports) >= 16
    assert [f"{report.task_id}: {report.error}" for report in reports if not report.ok] == []
    assert {(report.oracle, report.noop) for report in reports} == {(1.0, 0.0)}


def test_unsound_tasks_are_told_apart(make_task: MakeTask) -> None:
    make_task("a-sound")
    make_task("b-free", test=PASS)
    make_task("c-wrong-solution", solve="touch other\n")
    make_task("d-failing-solution", solve="echo why; exit 3\n")
    make_task("e-no-verdict", test="echo why\n")
    make_task("f-no-set-up", dockerfile="FROM debian\nWORKDIR /app\nRUN exit 1\n")
    root = make_task("g-no-solution").parent
    (root / "g-no-solution/solution/solve.sh").unlink()
    reports = {report.task_id[0]: report for report in validate_tasks(str(root), parallel=2)}
    assert {key: report.ok for key, report in reports.items()} == {key: key == "a" for key in "abcdefg"}
    assert reports["b"].error == "doing nothing scores 1"
    assert "the solution scores 0" in str(reports["c"].error)
    assert "solve.sh ended with 3: why" in str(reports["d"].error)
    assert "no verdict" in str(reports["e"].error)
    assert "solve.sh: missing" in str(reports["g"].error)


def test_parallel_must_be_at_least_one(make_task: MakeTask) -> None:
    with pytest.raises(UserError, match="parallel"):
        validate_tasks(str(make_task()), parallel=0)
