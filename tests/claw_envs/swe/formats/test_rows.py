"""Rows of SWE-bench 5 as swebench itself reads them; rows of SWE-bench 4 by a recipe."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.swe.formats.rows import read
from claw_envs.swe.instance import instance_of
from claw_envs.swe.loader import load
from tests.claw_envs.swe.formats.samples import BASE, SCRIPT, swe_bench4, swe_bench5

RECIPE = '[tests]\ncommand = "python -m pytest -rA"\nlog_parser = "parse_log_pytest_v2"\n'


def test_a_row_becomes_a_task_in_its_image() -> None:
    task = read(swe_bench5(difficulty="<15 min fix", hints_text=None))
    instance = instance_of(task)
    assert (task.id, task.family, task.instruction) == ("tiny__calc-1", "swe", "add subtracts\n")
    assert instance.fail_to_pass == ("check.py::test_add",)
    assert (instance.eval_script, instance.base_commit, instance.hints_text) == (SCRIPT, BASE, "")
    assert task.sandbox is not None
    assert task.sandbox.image == "swebench/sweb.eval.x86_64.tiny_1776_calc-1:latest"
    assert task.sandbox.env["PATH"].startswith("/opt/miniconda3/envs/testbed/bin:")
    assert task.metadata["difficulty"] == "<15 min fix"


def test_images_of_other_languages_keep_their_path() -> None:
    task = read(swe_bench5(eval_script=SCRIPT.replace("conda activate testbed\n", "")))
    assert task.sandbox is not None
    assert task.sandbox.env == {}


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
def test_a_file_gives_the_same_spec_as_swebench_reads_in_it(suffix: str, tmp_path: Path) -> None:
    utils = pytest.importorskip("swebench.harness.utils")
    rows = [swe_bench5(), swe_bench5(instance_id="tiny__calc-2", FAIL_TO_PASS=["a::b[c d]"], eval_type="fail_only")]
    file = tmp_path / f"rows{suffix}"
    _write(file, rows)
    ours = [utils.make_test_spec(instance_of(task).row()) for task in load(str(file))]
    theirs = [utils.make_test_spec(row) for row in utils.load_swebench_dataset(str(file))]
    assert len(ours) == 2
    assert [asdict(spec) for spec in ours] == [asdict(spec) for spec in theirs]


def _write(file: Path, rows: list[dict[str, Any]]) -> None:
    if file.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(rows), file)
    elif file.suffix == ".json":
        file.write_text(json.dumps(rows, indent=1))
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"base_commit": "main"}, "40 hex digits, got 'main'"),
        ({"instance_id": "../x"}, "'../x' must be a name without slash"),
        ({"instance_id": ""}, "'' must be a name"),
        ({"FAIL_TO_PASS": []}, "FAIL_TO_PASS is empty"),
        ({"FAIL_TO_PASS": "a::b"}, "FAIL_TO_PASS is not a list of tests"),
        ({"patch": None}, r"Expected `str`, got `null` - at `\$\.patch`"),
        ({"eval_type": "some"}, "eval_type"),
        ({"image": None}, "names no image"),
        ({"eval_script": None}, "claw swe convert"),
        ({"log_parser": ""}, "claw swe convert"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(columns: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(swe_bench5(**columns))


def test_a_missing_column_is_named() -> None:
    with pytest.raises(UserError, match="missing required field `base_commit`"):
        read({key: value for key, value in swe_bench5().items() if key != "base_commit"})


def test_a_recipe_beside_the_file_tests_rows_of_swe_bench_4(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    task = read(swe_bench4(), tmp_path)
    instance = instance_of(task)
    assert "\npython -m pytest -rA check.py\n" in instance.eval_script
    assert instance.log_parser == "parse_log_pytest_v2"
    assert task.metadata["recipe"] == str(tmp_path / "recipe.toml")
    assert task.sandbox is not None
    assert task.sandbox.image is None


def test_a_rows_own_recipe_goes_first_and_leaves_a_script_alone(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "calc.toml").write_text('python = "3.11"\n')
    task = read(swe_bench5(recipe="calc.toml", image=None), tmp_path)
    assert task.metadata["recipe"] == str(tmp_path / "calc.toml")
    assert instance_of(task).eval_script == SCRIPT
    with pytest.raises(UserError, match="must say how to test it"):
        read(swe_bench4(recipe="calc.toml"), tmp_path)
    with pytest.raises(UserError, match=r"none\.toml does not exist"):
        read(swe_bench4(recipe="none.toml"), tmp_path)
