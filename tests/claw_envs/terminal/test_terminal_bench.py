"""Terminal-Bench 0.2: what is read, and one clear line for each fault."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.core.codec import from_bytes, to_bytes
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.terminal.loader import load

MakeTask = Callable[..., Path]

FULL = """# a canary comment
instruction: |-
  Create /app/done.
  Nothing else.
author_name: someone
difficulty: hard
category: files
tags: [a, b]
parser_name: swebench
max_agent_timeout_sec: 90.0
max_test_timeout_sec: 30
run_tests_in_same_shell: false
disable_asciinema: true
expert_time_estimate_min: 5
network_mode: allowlist
allowed_hosts: [pypi.org]
cpus: 2
memory_mb: 300
max_steps: 7
step_timeout_sec: 3.5
"""


def test_every_field_lands_in_the_task(make_tb_task: MakeTask) -> None:
    [task] = load(str(make_tb_task(yaml=FULL)))
    assert (task.id, task.family, task.instruction) == ("bench", "terminal", "Create /app/done.\nNothing else.")
    assert (task.limits.max_steps, task.limits.step_timeout, task.limits.episode_timeout) == (7, 3.5, 90.0)
    assert (task.verifier.kind, task.verifier.timeout) == ("terminal-bench", 30.0)
    assert task.verifier.options == {"parser": "swebench"}
    assert task.sandbox is not None
    assert (task.sandbox.cpus, task.sandbox.memory_mb, task.sandbox.network) == (2.0, 300, ("pypi.org",))
    assert (task.sandbox.workdir, task.sandbox.env) == ("/app", {"TEST_DIR": "/tests"})
    assert (task.metadata["format"], task.metadata["difficulty"]) == ("terminal-bench", "hard")
    assert task.metadata["terminal_bench"]["expert_time_estimate_min"] == 5
    assert from_bytes(to_bytes(task), Task) == task


def test_defaults_are_the_formats(make_tb_task: MakeTask) -> None:
    [task] = load(str(make_tb_task()))
    assert (task.limits.episode_timeout, task.verifier.timeout) == (360.0, 60.0)
    assert task.verifier.options == {"parser": "pytest"}
    assert task.sandbox is not None
    assert task.sandbox.network == "none"


def test_most_public_tasks_need_an_image(make_tb_task: MakeTask) -> None:
    folder = make_tb_task(dockerfile="FROM ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624\n")
    [task] = load(str(folder))
    assert task.sandbox is not None
    assert (task.sandbox.build, task.sandbox.workdir, task.sandbox.env) == (str(folder), "", {"TEST_DIR": "/tests"})
    assert task.metadata["needs_image"] == "Dockerfile: no WORKDIR, so it is the base's own"


def test_a_compose_file_is_optional(make_tb_task: MakeTask) -> None:
    folder = make_tb_task()
    (folder / "docker-compose.yaml").unlink()
    [task] = load(str(folder))
    assert task.sandbox is not None
    assert task.sandbox.workdir == "/app"


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("difficulty: easy", "instruction is missing"),
        ("instruction: ''", "instruction must be text"),
        ("instruction: 3", "instruction must be text, got 3"),
        ("instruction: do\nparser_name: junit", "parser_name must be one of pytest, swebench, .*, got 'junit'"),
        ("instruction: do\nrun_tests_in_same_shell: true", "run_tests_in_same_shell is not supported"),
        ("instruction: do\nrun_tests_in_same_shell: 1", "must be true or false"),
        ("instruction: do\nmax_agent_timeout_sec: 0", "max_agent_timeout_sec must be a number above 0, got 0"),
        ("instruction: do\nmax_test_timeout_sec: .nan", "max_test_timeout_sec must be a number above 0, got nan"),
        ("instruction: [", "not valid YAML"),
        ("- instruction", "must hold a mapping"),
        ("", "must hold a mapping"),
    ],
)
def test_a_bad_configuration_is_one_line_that_names_the_fix(make_tb_task: MakeTask, yaml: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        load(str(make_tb_task(yaml=yaml)))
    assert "\n" not in str(caught.value)
    assert "task.yaml" in str(caught.value)


def test_several_services_are_refused_by_name(make_tb_task: MakeTask) -> None:
    compose = "services: {client: {build: .}, database: {image: postgres}}\n"
    with pytest.raises(UserError, match=r"several services \(client, database\)"):
        load(str(make_tb_task(compose=compose)))


def test_a_task_without_tests_is_refused(make_tb_task: MakeTask) -> None:
    folder = make_tb_task()
    (folder / "run-tests.sh").unlink()
    with pytest.raises(UserError, match=r"run-tests\.sh: missing"):
        load(str(folder))


def test_without_pyyaml_the_extra_is_named(make_tb_task: MakeTask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UserError, match=r'pip install "claw-envs\[formats\]"'):
        load(str(make_tb_task()))
