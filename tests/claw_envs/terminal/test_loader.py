"""Where tasks lie: one folder, many, nested, of mixed formats; a bad one does not hide the rest."""

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import load_tasks
from claw_envs.terminal.loader import load, survey

MakeTask = Callable[..., Path]


def test_a_folder_of_mixed_formats_is_read_in_order(make_task: MakeTask, make_tb_task: MakeTask) -> None:
    make_task("b"), make_tb_task("a"), make_tb_task("d")
    root = make_task("c").parent
    (root / "notes").mkdir()
    (root / "README.md").write_text("not a task")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tasks = load(str(root))
    assert [(task.id, task.metadata["format"]) for task in tasks] == [
        ("a", "terminal-bench"), ("b", "harbor"), ("c", "harbor"), ("d", "terminal-bench"),
    ]  # fmt: skip


def test_one_folder_is_one_task(make_task: MakeTask, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_task()
    monkeypatch.chdir(folder)
    assert [task.id for task in load(".")] == ["sample"]


def test_tasks_may_lie_one_level_down(make_task: MakeTask, make_tb_task: MakeTask) -> None:
    make_task("outer/a"), make_tb_task("outer/same"), make_task("other/same"), make_task("b")
    root = make_task(".git/hidden").parents[1]
    assert [task.id for task in load(str(root))] == ["b", "other/same", "a", "outer/same"]


def test_a_bad_task_is_left_out_with_a_warning(make_task: MakeTask, make_tb_task: MakeTask) -> None:
    make_task("good"), make_tb_task("bad-yaml", yaml="- 1")
    root = make_task("bad-toml", toml="[x").parent
    with pytest.warns(UserWarning, match=r"(?s)2 of 3 tasks were left out:\n  bad-toml: .*\n  bad-yaml: ") as caught:
        assert [task.id for task in load(str(root))] == ["good"]
    assert len(caught) == 1
    found = survey(str(root))
    assert [fault.name for fault in found.faults] == ["bad-toml", "bad-yaml"]
    assert "not valid TOML" in found.faults[0].reason


def test_a_bad_task_that_was_named_is_the_users_mistake(make_task: MakeTask) -> None:
    with pytest.raises(UserError, match="not valid TOML"):
        load(str(make_task(toml="[x")))


def test_where_none_is_good_the_first_reason_is_given(make_task: MakeTask) -> None:
    make_task("a", toml="[x")
    root = make_task("b", instruction="").parent
    with pytest.raises(UserError, match=r"none of its 2 tasks can be loaded; the first: .*not valid TOML"):
        load(str(root))


def test_a_source_that_cannot_be_read_is_said() -> None:
    with pytest.raises(UserError, match=r"cannot be read: .*File name too long"):
        load("x" * 5000)


def test_nothing_there_is_said(tmp_path: Path) -> None:
    for name in ("nowhere", "nowhere.jsonl"):
        with pytest.raises(UserError, match="no such folder"):
            load(str(tmp_path / name))
    with pytest.raises(UserError, match="no task there"):
        load(str(tmp_path))


def test_the_family_loads_them(make_tb_task: MakeTask) -> None:
    assert [task.id for task in load_tasks("terminal", make_tb_task())] == ["bench"]
    assert len(load_tasks("terminal")) == len(load(None))
