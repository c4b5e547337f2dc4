import asyncio
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from claw_envs.cli import app
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.swe.instance import instance_of
from claw_envs.swe.loader import load
from claw_envs.swe.recipe import sandbox_of
from tests.claw_envs.swe.recipe.conftest import Clone
from tests.claw_envs.swe.tiny import GOLD, TEST_PATCH

RECIPE = 'packages = ["greet==1.0"]\n[tests]\ncommand = "python check.py"\n'
SCRIPTED = {"eval_script": "true\n", "log_parser": "parse_log_pytest", "image": "tiny:latest"}


@pytest.fixture(autouse=True)
def own_instances(cache: Path) -> Any:
    """What one test records is nothing to the next."""
    yield
    for link in cache.glob("recipes/instances/*"):
        link.unlink()


def _rows(folder: Path, base: str, **columns: Any) -> str:
    row: dict[str, Any] = {
        "instance_id": "tiny__calc-1",
        "repo": "tiny/calc",
        "base_commit": base,
        "problem_statement": "add subtracts",
    }
    row |= {"patch": GOLD, "test_patch": TEST_PATCH, "FAIL_TO_PASS": ["check.py::test_add"], "PASS_TO_PASS": []}
    folder.mkdir(exist_ok=True)
    (folder / "rows.jsonl").write_bytes(msgspec.json.encode(row | columns))
    return str(folder / "rows.jsonl")


def _claw(*arguments: str) -> str:
    """What a command prints; its mistakes are raised as they are."""
    done = CliRunner().invoke(app, list(arguments))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def _layers(task: Task) -> tuple[str, ...]:
    return asyncio.run(sandbox_of(task, "namespace")).layers


def test_a_recipe_beside_the_rows_is_the_tasks(clone: Clone, tmp_path: Path) -> None:
    rows = _rows(tmp_path / "set", clone.base)
    (tmp_path / "set/recipe.toml").write_text(RECIPE)
    said = _claw("swe", "prepare", rows, "--repository", str(clone.path))
    task = load(rows)[0]
    assert said.split() == ["tiny__calc-1", _layers(task)[-1]]
    assert "python check.py" in instance_of(task).eval_script


def test_a_recipe_that_is_named_serves_from_then_on(clone: Clone, tmp_path: Path) -> None:
    rows = _rows(tmp_path / "set", clone.base)  # a row of SWE-bench 4: it has neither script nor image
    recipe = tmp_path / "any.toml"
    recipe.write_text(RECIPE)
    with pytest.raises(UserError):
        load(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = _claw("swe", "prepare", rows, "--recipe", str(recipe), "--repository", str(clone.path))
    assert said.split()[1] == _layers(load(rows)[0])[-1]
    recipe.unlink()
    with pytest.raises(UserError, match=r"any\.toml"):
        load(rows)


def test_other_backends_run_the_image(clone: Clone, tmp_path: Path) -> None:
    rows = _rows(tmp_path / "set", clone.base, **SCRIPTED)
    (tmp_path / "set/recipe.toml").write_text(RECIPE)
    task = load(rows)[0]
    assert asyncio.run(sandbox_of(task, "docker")) == task.sandbox
    assert task.sandbox is not None
    assert task.sandbox.image == "tiny:latest"


def test_a_task_without_a_recipe_is_itself(clone: Clone, tmp_path: Path) -> None:
    rows = _rows(tmp_path / "set", clone.base, **SCRIPTED)
    task = load(rows)[0]
    assert asyncio.run(sandbox_of(task, "namespace")) == task.sandbox
    with pytest.raises(UserError, match="tiny__calc-1: no recipe: name one with --recipe FILE"):
        _claw("swe", "prepare", rows)


def test_only_tasks_that_are_there_can_be_chosen(clone: Clone, tmp_path: Path) -> None:
    rows = _rows(tmp_path / "set", clone.base, **SCRIPTED)
    with pytest.raises(UserError, match=r"rows.jsonl: no task tiny__calc-2 there"):
        _claw("swe", "prepare", rows, "--task", "tiny__calc-2")


def test_what_is_wrong_with_a_recipe_names_the_task(clone: Clone, tmp_path: Path) -> None:
    rows = _rows(tmp_path / "set", clone.fix)
    (tmp_path / "set/recipe.toml").write_text(RECIPE)
    with pytest.raises(UserError, match=r"^tiny__calc-1: no repository"):
        _layers(load(rows)[0])
