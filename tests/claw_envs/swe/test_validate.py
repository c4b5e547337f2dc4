"""Validation: sound tasks are told from tasks whose patches or lists of tests are wrong, and SWE tasks from others."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claw_envs.cli import app
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import builtin
from claw_envs.soundness import Report, table, validate_tasks
from claw_envs.swe.loader import recognises
from claw_envs.swe.validate import validate
from tests.claw_envs.swe.tiny import CALC, GOLD, diff, make_task

ADD, SUB = "check.py::test_add", "check.py::test_sub"


def reports(tasks: Sequence[Task], **options: Any) -> list[Report]:
    """The reports on `tasks`, with the time that they took left out."""
    return asyncio.run(validate(tasks, **options))


def test_every_built_in_task_is_sound() -> None:
    found = validate_tasks("swe", parallel=2)
    assert len(found) >= 10
    assert [f"{report.task_id}: {report.error}" for report in found if not report.ok] == []


def test_a_sound_task(tmp_path: Path) -> None:
    [report] = reports([make_task(tmp_path)])
    assert (report.ok, report.oracle, report.noop, report.error) == (True, 1.0, 0.0, None)
    assert "1 of 1 tasks are sound" in table([report])


@pytest.mark.parametrize(
    ("fields", "scores", "error"),
    [
        ({"patch": diff(CALC + "\n")}, (0.0, 0.0), f"with the gold patch fail: {ADD}; log: "),
        ({"patch": GOLD.replace("calc", "other")}, (0.0, 0.0), "with the gold patch the patch does not apply; log: "),
        ({"fail_to_pass": (SUB,), "pass_to_pass": ()}, (1.0, 1.0), f"of FAIL_TO_PASS pass without a patch: {SUB}"),
        ({"fail_to_pass": (ADD, SUB)}, (1.0, 0.0), f"of FAIL_TO_PASS pass without a patch: {SUB}"),
        (
            {"pass_to_pass": (ADD, SUB)},
            (1.0, 0.0),
            f"of PASS_TO_PASS fail without a patch, or are not run: {ADD}; log: ",
        ),
        ({"command": "true"}, (0.0, 0.0), "no verdict on the tests without a patch: their log has no results; log: "),
        ({"eval_script": "exit 3\n"}, (None, 0.0), "did not begin (exit code 3)"),
        ({"log_parser": "none"}, (None, None), "log_parser 'none' is none of swebench's"),
    ],
)
def test_an_unsound_task_says_why(
    tmp_path: Path, fields: dict[str, Any], scores: tuple[float, float], error: str
) -> None:
    [report] = reports([make_task(tmp_path, **fields)])
    assert not report.ok
    assert (report.oracle, report.noop) == scores
    assert error in str(report.error)


def test_several_at_a_time_keep_their_order(tmp_path: Path) -> None:
    tasks = [make_task(tmp_path / str(number), patch=GOLD if number % 2 else "") for number in range(5)]
    assert [report.ok for report in reports(tasks, parallel=3)] == [False, True, False, True, False]


def test_what_is_wrong_with_all_is_said_once(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    with pytest.raises(UserError, match="parallel must be at least 1"):
        reports([task], parallel=0)
    with pytest.raises(UserError, match="no sandbox backend `dokcer`"):
        reports([task], backend="dokcer")


def test_swe_tasks_are_recognised(tmp_path: Path) -> None:
    rows, folders = tmp_path / "rows.jsonl", tmp_path / "folders.jsonl"
    rows.write_text('{"instance_id": "a__b-1", "repo": "a/b"}\n')
    folders.write_text('{"id": "hello", "path": "hello"}\n')
    swe = [str(builtin("swe")), str(rows), "verified", "lite[:3]", "swe-gym:rows.parquet", "rows.json", "rows.parquet"]
    swe += [f"{rows}[:1]", "rows.json[2:4]"]
    assert [source for source in swe if not recognises(source)] == []
    assert [source for source in (str(builtin("terminal")), str(folders), "no/such/place") if recognises(source)] == []


def test_the_command_reports_rows_that_cannot_be_loaded(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.json"
    rows.write_text('{"instance_id": "a__b-1", "repo": "a/b"}\n')
    result = CliRunner().invoke(app, ["tasks", "validate", str(rows), "--json", str(out)])
    assert result.exit_code == 1
    assert "0 of 1 tasks are sound" in result.stdout
    [report] = json.loads(out.read_text())
    assert (report["task_id"], report["ok"], "not a SWE-bench row" in report["error"]) == ("a__b-1", False, True)
