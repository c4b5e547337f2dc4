"""The task format: what is read, and one clear line for each fault."""

from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.core.codec import from_bytes, to_bytes
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.terminal.harbor import load

MakeTask = Callable[..., Path]

FULL = """
schema_version = "1.1"
[task]
name = "org/sample"
[metadata]
difficulty = "hard"
tags = ["a", "b"]
max_steps = 7
step_timeout_sec = 3.5
[agent]
timeout_sec = 90
[verifier]
timeout_sec = 30.0
env = { KEY = "value" }
[environment]
cpus = 2
memory_mb = 300
storage_mb = 64
network_mode = "allowlist"
allowed_hosts = ["example.org"]
[environment.env]
MODE = "test"
[invented]
key = 1
"""


def test_every_field_lands_in_the_task(make_task: MakeTask) -> None:
    folder = make_task(toml=FULL, dockerfile="FROM debian:12\nWORKDIR /srv/work\nENV A=1 B='two words'\n")
    [task] = load(str(folder))
    assert (task.id, task.family, task.instruction) == ("sample", "terminal", "Create /app/done.")
    assert (task.limits.max_steps, task.limits.step_timeout, task.limits.episode_timeout) == (7, 3.5, 90.0)
    assert (task.verifier.kind, task.verifier.timeout) == ("harbor", 30.0)
    assert task.verifier.options == {"env": {"KEY": "value"}}
    assert task.sandbox is not None
    assert (task.sandbox.cpus, task.sandbox.memory_mb, task.sandbox.disk_mb) == (2.0, 300, 64)
    assert task.sandbox.network == ("example.org",)
    assert task.sandbox.env == {"A": "1", "B": "two words", "MODE": "test"}
    assert task.sandbox.workdir == "/srv/work"
    assert task.metadata["difficulty"] == "hard"
    assert task.metadata["base_image"] == "debian:12"
    assert task.metadata["harbor"]["invented"] == {"key": 1}
    assert from_bytes(to_bytes(task), Task) == task


def test_everything_but_the_files_is_optional(make_task: MakeTask) -> None:
    [task] = load(str(make_task(toml="")))
    assert task.sandbox is not None
    assert task.sandbox.network == "none"


@pytest.mark.parametrize(
    ("table", "network"),
    [
        ("", "none"),
        ("allow_internet = true", "full"),
        ("allow_internet = false", "none"),
        ('network_mode = "public"', "full"),
        ('network_mode = "no-network"\nallow_internet = true', "none"),
    ],
)
def test_network_is_denied_unless_granted(make_task: MakeTask, table: str, network: str) -> None:
    [task] = load(str(make_task(toml=f"[environment]\n{table}\n")))
    assert task.sandbox is not None
    assert task.sandbox.network == network


def test_a_folder_of_tasks_is_read_in_order(make_task: MakeTask) -> None:
    for name in ("b", "a", "c"):
        root = make_task(name).parent
    (root / "notes").mkdir()
    assert [task.id for task in load(str(root))] == ["a", "b", "c"]


@pytest.mark.parametrize("part", ["task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh"])
def test_a_missing_file_is_named(make_task: MakeTask, part: str) -> None:
    folder = make_task()
    (folder / part).unlink()
    with pytest.raises(UserError, match=f"{part}: missing"):
        load(str(folder))


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[metadata", "task.toml: not valid TOML"),
        ("metadata = 3", "metadata must be a table"),
        ("[agent]\ntimeout_sec = 'long'", r"\[agent\] timeout_sec must be a number above 0, got 'long'"),
        ("[agent]\ntimeout_sec = 0", "must be a number above 0, got 0"),
        ("[verifier]\ntimeout_sec = nan", "must be a number above 0, got nan"),
        ("[metadata]\nmax_steps = true", "max_steps must be a number above 0, got True"),
        ("[environment]\nnetwork_mode = 'some'", "network_mode must be no-network, public or allowlist, got 'some'"),
        ("[environment.env]\nKEY = 3", r"\[environment.env\] KEY must be a plain string"),
        ("[environment.env]\nKEY = '${HOME}'", "host variables are never passed in"),
        ("[[steps]]\nname = 'one'", "several steps"),
    ],
)
def test_a_bad_configuration_is_one_line_that_names_the_fix(make_task: MakeTask, toml: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        load(str(make_task(toml=toml)))
    assert "\n" not in str(caught.value)


def test_an_empty_instruction_is_refused(make_task: MakeTask) -> None:
    with pytest.raises(UserError, match=r"instruction\.md: empty"):
        load(str(make_task(instruction=" \n")))


def test_a_compose_file_needs_an_image(make_task: MakeTask) -> None:
    with pytest.raises(UserError, match="needs an image"):
        load(str(make_task(files={"environment/docker-compose.yaml": "services: {}\n"})))


def test_nothing_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        load(str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="no task there"):
        load(str(tmp_path))


def test_the_built_in_set_is_graded_and_each_task_is_complete_by_itself() -> None:
    tasks = load(None)
    assert len(tasks) >= 16
    assert {task.metadata["difficulty"] for task in tasks} == {"easy", "medium", "hard"}
    helpers = {(task.folder() / "tests" / "answers.py").read_bytes() for task in tasks}
    assert len(helpers) == 1, "the tasks' copies of answers.py differ"
