"""A SWE-bench 5 task repo as swebench itself reads it, with JSON or YAML, and what is said of a broken one."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import builtin
from claw_envs.swe.formats.task_repo import folders, read
from claw_envs.swe.instance import instance_of
from claw_envs.swe.loader import load, survey
from tests.claw_envs.swe.formats.samples import swe_bench5

MakeTask = Callable[..., Path]
FILES = {
    "patch": "gold.patch",
    "test_patch": "test.patch",
    "eval_script": "eval.sh",
    "problem_statement": "problem_statement.md",
}
TESTS = ("FAIL_TO_PASS", "PASS_TO_PASS")


@pytest.fixture
def make_task(tmp_path: Path) -> MakeTask:
    """`make_task(id, yaml=…, **columns)`: a task's folder in a task repo at `tmp_path`."""

    def make(name: str = "tiny__calc-1", *, yaml: str | None = None, **columns: Any) -> Path:
        row = swe_bench5(instance_id=name, split="test", datasets=["tiny/calc"]) | columns
        folder = tmp_path / "tasks" / name
        folder.mkdir(parents=True)
        for column, file in FILES.items():
            (folder / file).write_bytes(row.pop(column).encode())
        (folder / "tests.json").write_text(json.dumps({name: row.pop(name) for name in TESTS}))
        (folder / "task.yaml").write_text(yaml if yaml is not None else json.dumps(row, indent=2))
        (folder / "Dockerfile").write_text("FROM debian\n")
        return folder

    return make


def test_a_folder_is_read_as_swebench_reads_it(make_task: MakeTask) -> None:
    repo = pytest.importorskip("swebench.task.repo")
    folder = make_task(patch="diff --git a/x b/x\r\n")
    (folder / "hints.md").write_text("look at add\n")
    ours, theirs = instance_of(read(folder)).row(), repo.load_task(folder)
    assert ours["patch"] == "diff --git a/x b/x\r\n"
    assert ours == {key: theirs[key] for key in ours}


def test_json_needs_no_yaml_and_yaml_is_read_too(make_task: MakeTask, monkeypatch: pytest.MonkeyPatch) -> None:
    yaml = pytest.importorskip("yaml")
    folder = make_task()
    known = json.loads((folder / "task.yaml").read_text())
    (folder / "task.yaml").write_text(yaml.safe_dump(known))
    as_yaml = read(folder)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UserError, match=r'pip install "claw-envs\[formats\]"'):
        read(folder)
    (folder / "task.yaml").write_text(json.dumps(known))
    assert read(folder) == as_yaml


def test_the_built_in_tasks_need_no_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    tasks = load(None)
    assert {task.id for task in tasks} == {folder.name for folder in folders(builtin("swe"))}
    for task in tasks:
        assert task.sandbox is not None
        assert task.sandbox.build == task.path
        assert Path(task.metadata["recipe"]).name == "recipe.toml"


def test_where_a_task_runs(make_task: MakeTask) -> None:
    published, ours = make_task("tiny__calc-1"), make_task("tiny__calc-2")
    (ours / "recipe.toml").write_text("")
    one, other = (read(folder).sandbox for folder in (published, ours))
    assert one is not None
    assert other is not None
    assert (one.image, one.build) == ("swebench/sweb.eval.x86_64.tiny_1776_calc-1:latest", None)
    assert (other.image, other.build) == (None, str(ours))


def test_a_repo_a_folder_of_tasks_and_one_task_are_sources(make_task: MakeTask) -> None:
    folder = make_task("tiny__calc-1")
    make_task("tiny__calc-2")
    for source in (folder.parents[1], folder.parent):
        assert [task.id for task in load(str(source))] == ["tiny__calc-1", "tiny__calc-2"]
    assert [task.id for task in load(str(folder))] == ["tiny__calc-1"]


def test_deprecated_tasks_are_loaded_by_name_only(make_task: MakeTask) -> None:
    make_task("tiny__calc-1")
    folder = make_task("tiny__calc-2", split="deprecated")
    assert [task.id for task in load(str(folder.parent))] == ["tiny__calc-1"]
    assert [task.id for task in load(str(folder))] == ["tiny__calc-2"]


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda folder: (folder / "eval.sh").unlink(), r"there is no eval\.sh"),
        (lambda folder: (folder / "eval.sh").write_bytes(b"\xff"), "not UTF-8"),
        (lambda folder: (folder / "tests.json").write_text("[]"), r"tests\.json: not a JSON object"),
        (lambda folder: (folder / "task.yaml").write_text("a: [b"), r"task\.yaml: not valid YAML"),
        (lambda folder: (folder / "task.yaml").write_text("- a"), r"task\.yaml: not a mapping"),
        (
            lambda folder: (folder / "task.yaml").write_text("instance_id: x"),
            "instance_id is 'x', not the folder's name",
        ),
        (lambda folder: folder.rename(folder.with_name("other")), "not the folder's name"),
    ],
)
def test_a_broken_task_is_named_and_hides_no_other(
    break_it: Callable[[Path], Any], said: str, make_task: MakeTask
) -> None:
    make_task("tiny__calc-1")
    folder = make_task("tiny__calc-2")
    break_it(folder)
    found = survey(str(folder.parent))
    assert [task.id for task in found.tasks] == ["tiny__calc-1"]
    assert len(found.faults) == 1
    with pytest.raises(UserError, match=said):
        raise UserError(found.faults[0].reason)
