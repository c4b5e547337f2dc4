"""Our verdicts and the official harness's on a real engine, and that a difference would be seen."""

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from claw_envs.cli import app
from claw_envs.core.errors import UserError
from claw_envs.sandbox.docker.engine import Engine
from claw_envs.swe.grading import Outcomes
from evals.swe.judges import OFFICIAL, Judged, theirs
from evals.swe.mutations import MUTATIONS
from evals.swe.parity import Row, parity, table

RIGHT = Judged(status="resolved", applied=True, fail_to_pass=Outcomes(["new"]), pass_to_pass=Outcomes(["a", "b"]))


def test_all_judges_say_the_same_of_patches_of_every_kind(engine: Engine, tmp_path: Path) -> None:
    tasks = ["claw__gauge-1", "claw__waypoint-1"]
    rows = parity(None, tmp_path, only=tasks, parallel=4)
    assert [(row.task_id, row.mutation) for row in rows] == [(task, each.name) for task in tasks for each in MUTATIONS]
    assert [row for row in rows if not row.ok] == [], table(rows)
    assert {tuple(row.judged) for row in rows} == {("namespace", "docker", OFFICIAL)}
    assert {each.status for row in rows for each in row.judged.values()} == {
        "resolved", "unresolved", "empty_patch", "error",
    }  # fmt: skip


def test_the_command_writes_the_rows_and_succeeds(engine: Engine, tmp_path: Path) -> None:
    words = ["swe", "parity", "--task", "claw__gauge-1", "--mutation", "half", "--backend", "docker"]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path), "--json", str(tmp_path / "rows.json")])
    assert result.exit_code == 0, result.output
    assert "1 of 1 patches of 1 tasks are judged the same by docker, official" in result.stdout
    [row] = json.loads((tmp_path / "rows.json").read_text())
    assert row["ok"]
    assert row["judged"]["docker"] == row["judged"]["official"]
    assert row["judged"]["official"]["fail_to_pass"]["failure"]


@pytest.mark.parametrize(
    "change",
    [
        {"status": "unresolved"},
        {"applied": False},
        {"fail_to_pass": Outcomes([], ["new"])},
        {"pass_to_pass": Outcomes(["a"], ["b"])},
    ],
)
def test_every_difference_counts(change: dict[str, object]) -> None:
    wrong = msgspec.structs.replace(RIGHT, **change)
    row = Row(task_id="t", mutation="gold", patch="p", expected=True, judged={"docker": wrong, OFFICIAL: RIGHT})
    assert not row.ok
    assert "DIFFERENT\n    docker: " in table([row])
    assert "0 of 1 patches" in table([row])


def test_a_patch_that_is_not_what_it_should_be_counts() -> None:
    row = Row(task_id="t", mutation="half", patch="p", expected=False, judged={"docker": RIGHT, OFFICIAL: RIGHT})
    assert (row.same, row.ok) == (True, False)
    assert "not what such a patch is made for" in table([row])


def test_unknown_names_are_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no task 'nothing': use claw__"):
        parity(None, tmp_path, only=["nothing"])
    with pytest.raises(UserError, match="no mutation 'worse': use gold, empty"):
        parity(None, tmp_path, mutations=["worse"])
    with pytest.raises(UserError, match="no sandbox backend `dokcer`"):
        parity(None, tmp_path, backends=["dokcer"])


def test_patches_that_nobody_wrote(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"no patch to judge: half are written by hand, and {tmp_path} has none"):
        parity(None, tmp_path / "out", only=["claw__gauge-1"], mutations=["half"], written=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file/harness cannot be made"):
        asyncio.run(theirs([], workers=1, out=tmp_path / "file"))
