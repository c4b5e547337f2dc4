"""JSONL files that name task folders: where a row finds its folder, and what it changes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.terminal.loader import load

MakeTask = Callable[..., Path]


def rows(folder: Path, *entries: dict[str, Any]) -> str:
    path = folder / "set.jsonl"
    path.write_text("\n\n".join(json.dumps(entry) for entry in entries) + "\n")
    return str(path)


def one(folder: Path, **row: Any) -> Task:
    [task] = load(rows(folder, row))
    return task


@pytest.mark.parametrize(
    ("row", "task_id"),
    [
        ({"task_path": "tasks/sample"}, "sample"),
        ({"path": "./tasks/sample/"}, "sample"),
        ({"task_path": "tasks/sample", "task_id": "first"}, "first"),
        ({"task_path": "tasks/sample", "id": "first"}, "first"),
        ({"task_id": "sample"}, "sample"),
        ({"id": "tasks/sample"}, "tasks/sample"),
    ],
)
def test_a_row_finds_its_folder(tmp_path: Path, make_task: MakeTask, row: dict[str, Any], task_id: str) -> None:
    folder = make_task()
    task = one(tmp_path, **row)
    assert (task.id, task.path) == (task_id, str(folder))
    assert task.metadata["row"] == row


def test_an_absolute_path_is_taken_as_it_is(tmp_path: Path, make_task: MakeTask) -> None:
    assert one(tmp_path, task_path=str(make_task())).id == "sample"


def test_folders_may_be_of_either_format(tmp_path: Path, make_task: MakeTask, make_tb_task: MakeTask) -> None:
    make_task("one"), make_tb_task("two")
    tasks = load(rows(tmp_path, {"id": "one"}, {"id": "two"}))
    assert [(task.id, task.metadata["format"]) for task in tasks] == [("one", "harbor"), ("two", "terminal-bench")]


def test_what_a_row_states_goes_before_what_the_folder_says(tmp_path: Path, make_task: MakeTask) -> None:
    make_task(toml="[metadata]\ndifficulty = 'easy'\nmax_steps = 4\n[environment]\ncpus = 2\n")
    task = one(
        tmp_path, id="sample", instruction="Do it.", difficulty="hard", source="mine", max_steps=9, step_timeout_sec=2,
        max_agent_timeout_sec=30, max_test_timeout_sec=5.5, network_mode="public", memory_mb=64,
    )  # fmt: skip
    assert task.instruction == "Do it."
    assert (task.limits.max_steps, task.limits.step_timeout, task.limits.episode_timeout) == (9, 2.0, 30.0)
    assert task.verifier.timeout == 5.5
    assert task.sandbox is not None
    assert (task.sandbox.network, task.sandbox.memory_mb, task.sandbox.cpus) == ("full", 64, 2.0)
    assert (task.metadata["difficulty"], task.metadata["row"]["source"]) == ("hard", "mine")


def test_one_folder_may_serve_several_rows(tmp_path: Path, make_task: MakeTask) -> None:
    make_task()
    named = {"task_path": "tasks/sample"}
    tasks = load(rows(tmp_path, named | {"id": "a", "instruction": "A"}, named | {"id": "b", "instruction": "B"}))
    assert [(task.id, task.instruction) for task in tasks] == [("a", "A"), ("b", "B")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: not a JSON object"),
        ("[1]", "line 1: not a JSON object"),
        ("{}", "line 1: names no task"),
        ('{"task_path": 3}', "line 1: task_path must be text, got 3"),
        ('{"task_path": "nowhere"}', "nowhere: no task there"),
        ('{"task_path": "~nobody-of-that-name/x"}', "no task there"),
        (json.dumps({"task_path": "x" * 5000}), "File name too long"),
        ('{"task_id": "nowhere"}', "nowhere: no task there"),
        ('{"id": "sample", "max_steps": -1}', "line 1: max_steps must be a number above 0, got -1"),
        ('{"id": "sample", "instruction": 3}', "line 1: instruction must be text"),
        ('{"id": "sample", "network_mode": "some"}', "line 1: network_mode must be"),
        ("", "empty"),
    ],
)
def test_a_bad_row_is_one_line_that_names_the_fix(tmp_path: Path, make_task: MakeTask, line: str, said: str) -> None:
    make_task()
    (tmp_path / "set.jsonl").write_text(line)
    with pytest.raises(UserError, match=said) as caught:
        load(str(tmp_path / "set.jsonl"))
    assert "\n" not in str(caught.value)


def test_a_bad_row_does_not_hide_the_others(tmp_path: Path, make_task: MakeTask) -> None:
    make_task()
    with pytest.warns(
        UserWarning, match=r"(?s)2 of 3 tasks were left out.*line 3: .*names no task.*line 5: .*'sample'"
    ):
        tasks = load(rows(tmp_path, {"id": "sample"}, {}, {"task_path": "tasks/sample"}))
    assert [task.id for task in tasks] == ["sample"]
