import subprocess
import sys
from pathlib import Path

import pytest

from claw_envs.cli import pairs
from claw_envs.core.errors import UserError


def claw(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    command = [str(Path(sys.executable).with_name("claw")), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120)


def test_a_trainer_without_a_dry_run_refuses_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain_trainer.py").write_text("def train(config, run, *, resume): print(config.arguments)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    words = ("train", "chat", "--trainer", "plain_trainer:train")
    assert claw(*words, "--", "--flag", "1").stdout == "['--flag', '1']\n"
    refused = claw(*words, "--dry-run")
    assert refused.returncode == 2
    assert refused.stderr.startswith(
        "claw: --trainer plain_trainer:train: got an unexpected keyword argument 'dry_run'"
    )


def test_help_names_every_command() -> None:
    done = claw("--help")
    assert done.returncode == 0
    for command in ("envs", "tasks", "play", "train", "eval", "plot", "doctor"):
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("tasks no-such-family", "no environment family 'no-such-family'"),
        ("tasks --tasks somewhere", "claw tasks FAMILY --tasks SET"),
        ("tasks terminal --tasks /no/such/folder", "/no/such/folder"),
        ("play chat --task no-such-task", "no task 'no-such-task'"),
        ("play chat --set colour=blue", "the chat environment takes no colour; it takes tasks, mix"),
        ("play chat --set colour", "KEY=VALUE"),
        ("train chat --trainer no-such-trainer", "installed: async"),
        ("train chat --trainer no_such_module:train", "there is no module no_such_module"),
        ("train chat --trainer trainers.nope:train", "there is no module trainers.nope"),
        ("train chat --trainer json:dumps", "a trainer is train(config, run, *, resume=False, dry_run=False)"),
        ("play chat --set simulator=robot", "no simulator 'robot'"),
        ("play chat --set simulator=llm", "base_url"),
        ("play chat --set base_url=http://localhost/v1", "simulator=llm"),
        ("plot /no/such/run", "/no/such/run"),
        ("play terminal --set server=http://127.0.0.1:1", "http://127.0.0.1:1 does not answer (connection refused)"),
        ("images export /no/such/image.tar", "/no/such/image.tar: no such file or folder"),
        ("serve envs --port 0 --set terminal.backend=foo", "no sandbox backend `foo`"),
        ("serve envs --port 0 --set max_steps=abc", "max_steps must be a whole number above 0"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_2(arguments: str, named: str) -> None:
    done = claw(*arguments.split())
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("claw: ")
    assert named in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", ["tasks validate --backend docker", "images export a b", "sandbox list", "sandbox prune"]
)
def test_an_engine_that_was_named_and_does_not_answer_is_said_once(
    arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    done = claw(*arguments.split())
    assert done.returncode == 2, done.stderr
    assert done.stderr == (
        "claw: the container engine at tcp://127.0.0.1:1 does not answer (connection refused): start it, "
        "or see `claw doctor`\n"
    )


@pytest.mark.parametrize("arguments", ["bogus", "play", "train chat --updates many", "eval terminal"])
def test_wrong_usage_is_exit_code_2(arguments: str) -> None:
    done = claw(*arguments.split())
    assert done.returncode == 2
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr


def test_envs_lists_the_registered_ids() -> None:
    assert "claw/terminal-v0" in claw("envs").stdout


def test_tasks_lists_one_family_or_all() -> None:
    chat, everything = claw("tasks", "chat"), claw("tasks")
    assert "student-wp-001" in chat.stdout
    assert "terminal" not in chat.stdout
    assert chat.stdout in everything.stdout
    assert "\nterminal " in "\n" + everything.stdout
    assert claw("tasks", "list", "chat").stdout == chat.stdout


def test_a_person_plays_an_episode() -> None:
    done = claw("play", "chat", "--task", "student-wp-001", "--seed", "0", stdin="It's 12.\nNaïve 🙂\n.\n")
    assert done.returncode == 0, done.stderr
    assert "Mia has 7 apples" in done.stdout
    assert "-- step 1: reward " in done.stdout
    assert done.stdout.rstrip().endswith("ended") or "COMPLETED" in done.stdout


def test_a_player_is_shown_the_tools_a_line_each() -> None:
    done = claw("play", "terminal", "--task", "hello-file")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "run_command(command, timeout?)" in lines
    assert "finish()" in lines
    assert "parameters" not in done.stdout


def test_the_end_of_input_sends_what_was_typed_and_then_ends() -> None:
    done = claw("play", "chat", "--task", "student-wp-001", stdin="12")
    assert done.returncode == 0, done.stderr
    assert "-- step 1: " in done.stdout
    nothing = claw("play", "chat", "--task", "student-wp-001")
    assert nothing.returncode == 0
    assert "-- step" not in nothing.stdout


def test_doctor_says_what_this_machine_can_run() -> None:
    done = claw("doctor")
    assert done.returncode == 0, done.stderr
    for area in ("Machine", "Sandboxes", "Browser", "Engines", "Model"):
        assert f"{area}\n" in done.stdout
    assert "yes  python " in done.stdout


def test_settings_are_split_at_the_first_equals_sign() -> None:
    assert pairs(["a=1", "b = x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    assert pairs(None) == {}
    with pytest.raises(UserError, match="'=1'"):
        pairs(["=1"])
