"""The task format: what is read, and one clear line for each fault."""

from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.core.codec import from_bytes, to_bytes
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.terminal.loader import load

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
    assert task.metadata["format"] == "harbor"
    assert from_bytes(to_bytes(task), Task) == task


@pytest.mark.parametrize(
    ("table", "memory", "disk"),
    [
        ("", 1024, 512),
        ('memory = "2G"\nstorage = "10G"', 2048, 10240),
        ('memory = "512M"\nstorage = "1.5 GiB"', 512, 1536),
        ('memory = "2G"\nmemory_mb = 300', 300, 512),
        ("memory_mb = 0.5\nstorage_mb = 0.5", 1, 1),
    ],
)
def test_sizes_are_read_in_both_forms(make_task: MakeTask, table: str, memory: int, disk: int) -> None:
    [task] = load(str(make_task(toml=f"[environment]\n{table}\n")))
    assert task.sandbox is not None
    assert (task.sandbox.memory_mb, task.sandbox.disk_mb) == (memory, disk)


def test_a_dockerfile_beyond_the_hosts_system_is_built(make_task: MakeTask) -> None:
    folder = make_task(dockerfile="FROM debian\nWORKDIR /srv\nRUN apt-get install -y jq\n")
    [task] = load(str(folder))
    assert task.sandbox is not None
    assert (task.sandbox.build, task.sandbox.image) == (str(folder / "environment"), None)
    assert (task.sandbox.workdir, task.sandbox.files, task.sandbox.setup) == ("", {}, ())
    assert task.metadata["needs_image"] == "Dockerfile:3: RUN apt-get"


@pytest.mark.parametrize(
    ("test", "dockerfile"),
    [
        ("apt-get install -y curl\n", "FROM debian\nWORKDIR /app\n"),
        ("true\n", "FROM debian\nCOPY solution.txt /data/\n"),
    ],
)
def test_tests_that_install_and_a_base_with_a_workdir_need_an_image(
    make_task: MakeTask, test: str, dockerfile: str
) -> None:
    [task] = load(str(make_task(test=test, dockerfile=dockerfile, files={"environment/solution.txt": ""})))
    assert task.sandbox is not None
    assert task.sandbox.build is not None


def test_a_ready_image_stands_in_for_the_dockerfile(make_task: MakeTask) -> None:
    toml = '[environment]\ndocker_image = "org/task:1"\nworkdir = "/srv"\n[environment.env]\nA = "1"\n'
    folder = make_task(toml=toml, dockerfile="FROM debian\nRUN apt-get install -y jq\n")
    for present in (True, False):
        if not present:
            (folder / "environment" / "Dockerfile").unlink()
        [task] = load(str(folder))
        assert task.sandbox is not None
        assert (task.sandbox.image, task.sandbox.build) == ("org/task:1", None)
        assert (task.sandbox.workdir, task.sandbox.env) == ("/srv", {"A": "1"})


def test_a_ready_image_is_not_needed_where_the_hosts_system_will_do(make_task: MakeTask) -> None:
    [task] = load(str(make_task(toml='[environment]\ndocker_image = "org/task:1"\n')))
    assert task.sandbox is not None
    assert (task.sandbox.image, task.sandbox.workdir) == (None, "/app")


def test_canary_lines_are_not_shown_to_the_agent(make_task: MakeTask) -> None:
    text = "<!-- a canary GUID 1 -->\n# Canary: 2\n\n# Title\nDo it, canary.\n"
    [task] = load(str(make_task(instruction=text)))
    assert task.instruction == "# Title\nDo it, canary."


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
        ('network_mode = "allowlist"\nallowed_hosts = ["a.org", "*.b.org"]', ("a.org", "*.b.org")),
        (
            'network_mode = "public"\n[agent]\nnetwork_mode = "no-network"\n[verifier]\nnetwork_mode = "no-network"',
            "none",
        ),
        ('[agent]\nnetwork_mode = "public"\n[verifier]\nnetwork_mode = "public"', "full"),
    ],
)
def test_network_is_denied_unless_granted(make_task: MakeTask, table: str, network: str) -> None:
    [task] = load(str(make_task(toml=f"[environment]\n{table}\n")))
    assert task.sandbox is not None
    assert task.sandbox.network == network


@pytest.mark.parametrize("part", ["task.toml", "instruction.md", "tests/test.sh"])
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
        ("[environment.env]\n'A=B' = 'x'", "no variable can have such a name"),
        ("[environment.env]\n'' = 'x'", "no variable can have such a name"),
        ('[environment.env]\nKEY = "\\u0000"', "no variable can have such a name, or a NUL byte"),
        ("[environment.env]\nKEY = '${HOME}'", "host variables are never passed in"),
        ("[verifier.env]\nKEY = '${HOME}'", r"\[verifier.env\] KEY: \$\{HOME\} has no value"),
        ("[environment]\nmemory = '2 apples'", 'memory must be a size such as "512M"'),
        ("[environment]\nmemory = 2", 'memory must be a size such as "512M"'),
        ("[environment]\nnetwork_mode = 'allowlist'\nallowed_hosts = 'a.org'", "allowed_hosts must be a list"),
        (
            "[environment]\nnetwork_mode = 'no-network'\n[verifier]\nnetwork_mode = 'public'",
            "more network than the agent",
        ),
        ("[environment]\nos = 'windows'", "os must be linux, got 'windows'"),
        ("[environment]\ngpus = 1", "a GPU cannot be given"),
        ("[[environment.mcp_servers]]\nname = 'x'", "MCP servers cannot be given"),
        ("[verifier]\nenvironment_mode = 'separate'", "a machine of its own for the verifier"),
        ("[verifier.environment]\ncpus = 1", "a machine of its own for the verifier"),
        ("schema_version = '2.0'", "schema_version '2.0' is not known"),
        ("[[steps]]\nname = 'one'", "several steps"),
    ],
)
def test_a_bad_configuration_is_one_line_that_names_the_fix(make_task: MakeTask, toml: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        load(str(make_task(toml=toml)))
    assert "\n" not in str(caught.value)


def test_defaults_in_variables_are_used(make_task: MakeTask) -> None:
    [task] = load(str(make_task(toml='[environment.env]\nKEY = "a-${HOME:-b}"\n[verifier.env]\nKEY = "costs $5"\n')))
    assert task.sandbox is not None
    assert task.sandbox.env == {"KEY": "a-b"}
    assert task.verifier.options == {"env": {"KEY": "costs $5"}}


def test_an_empty_instruction_is_refused(make_task: MakeTask) -> None:
    with pytest.raises(UserError, match=r"instruction\.md: empty"):
        load(str(make_task(instruction=" \n")))


def test_neither_dockerfile_nor_image_is_said(make_task: MakeTask) -> None:
    folder = make_task()
    (folder / "environment" / "Dockerfile").unlink()
    with pytest.raises(UserError, match="Dockerfile: missing; the task names no image either"):
        load(str(folder))


def test_a_compose_file_of_one_service_is_that_machine(make_task: MakeTask) -> None:
    compose = "services:\n  main:\n    image: org/task:2\n    working_dir: /srv\n    environment: {A: '1', B: 2}\n"
    files = {"environment/docker-compose.yaml": compose}
    [task] = load(str(make_task(dockerfile="FROM alpine\n", files=files)))
    assert task.sandbox is not None
    assert (task.sandbox.image, task.sandbox.workdir, task.sandbox.env) == ("org/task:2", "/srv", {"A": "1", "B": "2"})


def test_the_built_in_set_is_graded_and_each_task_is_complete_by_itself() -> None:
    tasks = load(None)
    assert len(tasks) >= 16
    assert {task.metadata["difficulty"] for task in tasks} == {"easy", "medium", "hard"}
    helpers = {(task.folder() / "tests" / "answers.py").read_bytes() for task in tasks}
    assert len(helpers) == 1, "the tasks' copies of answers.py differ"
