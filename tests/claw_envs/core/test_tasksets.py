from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.core.tasksets import builtin, load_tasks
from claw_envs.families import FAMILIES, family


def task(name: str) -> Task:
    return Task(id=name, family="chat", instruction="say", verifier=VerifierSpec(kind="simulator"))


@pytest.mark.parametrize("row", FAMILIES, ids=lambda row: row.name)
def test_every_family_has_built_in_tasks_with_sane_limits(row) -> None:
    tasks = load_tasks(row.name)
    assert len(tasks) >= 10
    for found in tasks:
        assert found.family == row.name
        assert found.instruction.strip()
        assert found.limits.max_steps >= 1
        assert found.limits.step_timeout > 0


def test_a_list_is_taken_as_it_is() -> None:
    tasks = [task("a"), task("b")]
    assert load_tasks("chat", tasks) == tasks


def test_no_task_is_a_users_mistake() -> None:
    with pytest.raises(UserError, match="no chat task"):
        load_tasks("chat", [])


def test_repeated_ids_are_named() -> None:
    with pytest.raises(UserError, match="repeated: a"):
        load_tasks("chat", [task("a"), task("a"), task("b")])


def test_unknown_families_are_told_which_there_are() -> None:
    with pytest.raises(UserError, match="terminal, gui, toolcall, swe, chat"):
        load_tasks("no-such-family")


@pytest.mark.parametrize("row", FAMILIES, ids=lambda row: row.name)
def test_a_missing_source_is_named(row, tmp_path: Path) -> None:
    missing = tmp_path / "not-there"
    with pytest.raises(UserError, match="not-there"):
        load_tasks(row.name, missing)


def test_a_family_is_found_by_name_and_by_id() -> None:
    assert family("chat") is family("claw/chat-v0")
    assert builtin("chat").is_dir()


def test_a_task_without_a_folder_says_so() -> None:
    with pytest.raises(ValueError, match="has no folder"):
        task("a").folder()


def test_tasks_are_immutable() -> None:
    with pytest.raises(AttributeError):
        task("a").limits = Limits(max_steps=99)  # type: ignore[misc]
