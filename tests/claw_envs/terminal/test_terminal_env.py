"""Episodes in real sandboxes."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.terminal.env import TerminalEnv, TerminalVectorEnv

MakeTask = Callable[..., Path]
MakeEnv = Callable[..., TerminalEnv]


def bash(command: str) -> str:
    return f"```bash\n{command}\n```"


def calls(*pairs: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    entries = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(pairs)
    ]
    return {"role": "assistant", "content": None, "tool_calls": entries}


SUBMIT = bash("submit")


@pytest.fixture
def make_env(make_task: MakeTask) -> Iterator[MakeEnv]:
    """`make_env(**task parts)`: an environment over one small task, reset and ready."""
    made: list[TerminalEnv] = []

    def make(*, max_steps: int = 50, step_timeout: float = 20.0, **parts: Any) -> TerminalEnv:
        env = TerminalEnv(str(make_task(**parts)), max_steps=max_steps, step_timeout=step_timeout)
        made.append(env)
        env.reset(seed=0)
        return env

    yield make
    for env in made:
        env.close()


def test_the_instruction_is_what_the_user_says_first(make_env: MakeEnv) -> None:
    env = make_env()
    observation, info = env.reset(seed=1)
    assert (observation["role"], observation["text"]) == ("user", "Create /app/done.")
    assert observation["exit_code"] == -1
    assert info["task_id"] == "sample"
    assert [tool["function"]["name"] for tool in info["tools"]] == ["run_command", "write_file", "finish"]
    assert "submit" in info["system_prompt"]


def test_output_exit_code_and_folder_are_shown(make_env: MakeEnv) -> None:
    env = make_env()
    observation, reward, terminated, truncated, _ = env.step(bash("echo out; echo err >&2; cd /tmp; (exit 3)"))
    assert observation["text"] == "[exit 3 | /tmp]\nout\nerr"
    assert (observation["role"], observation["exit_code"]) == ("tool", 3)
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_shell_state_survives_between_steps(make_env: MakeEnv) -> None:
    env = make_env()
    env.step(bash("cd /tmp; kept='naïve 🙂'; greet() { echo hi $1; }; export SHOWN=yes"))
    observation, *_ = env.step(bash("pwd; echo $kept; greet you; bash -c 'echo $SHOWN'"))
    assert observation["text"] == "[exit 0 | /tmp]\n/tmp\nnaïve 🙂\nhi you\nyes"


def test_the_recipe_of_the_dockerfile_is_followed(make_env: MakeEnv) -> None:
    env = make_env(
        dockerfile="FROM debian\nWORKDIR /app/inner\nENV MODE=test\nCOPY data/ data/\nRUN echo $MODE > made.txt\n",
        files={"environment/data/a b.txt": "content\n"},
    )
    observation, *_ = env.step(bash("pwd; cat 'data/a b.txt' made.txt; echo $MODE; id -un"))
    assert observation["text"] == "[exit 0 | /app/inner]\n/app/inner\ncontent\ntest\ntest\nagent"


def test_a_command_that_runs_over_is_stopped_and_the_episode_goes_on(make_env: MakeEnv) -> None:
    env = make_env()
    observation, *_, info = env.step(calls(("run_command", {"command": "echo before; sleep 600", "timeout": 0.5})))
    assert observation["text"].startswith("[stopped after 0.5 s | ")
    assert "before" in observation["text"]
    assert observation["exit_code"] == -1
    assert info["status"] == "RUNNING"
    observation, *_ = env.step(bash("echo still here"))
    assert "still here" in observation["text"]


def test_no_command_gets_more_than_the_steps_limit(make_env: MakeEnv) -> None:
    env = make_env(step_timeout=0.5)
    action = calls(("run_command", {"command": "sleep 600", "timeout": 3600}), ("run_command", {"command": "touch x"}))
    observation, *_ = env.step(action)
    assert observation["text"].startswith("[1/2 run_command | stopped after 0.5 s | ")
    assert "[2/2 run_command | not run]" in observation["text"]


def test_long_output_is_cut_and_counted(make_env: MakeEnv) -> None:
    env = make_env()
    observation, *_ = env.step(bash("echo first; head -c 500000 /dev/zero | tr '\\0' x; echo; echo last"))
    head, _, text = observation["text"].partition("\n")
    assert "bytes cut" in head
    assert text.startswith("first\n")
    assert text.endswith("last")
    assert len(text) < 100_000


def test_submit_ends_and_scores(make_env: MakeEnv) -> None:
    env = make_env()
    env.step(bash("touch done"))
    observation, reward, terminated, truncated, info = env.step(SUBMIT)
    assert (reward, terminated, truncated, info["status"]) == (1.0, True, False, "COMPLETED")
    assert info["report"]["rewards"] == {"reward": 1.0}
    assert observation["text"].startswith("[submitted]")
    env.reset()
    _, reward, terminated, _, _ = env.step(calls(("finish", {})))
    assert (reward, terminated) == (0.0, True)


def test_the_step_limit_truncates_and_scores(make_env: MakeEnv) -> None:
    env = make_env(max_steps=2)
    env.step(bash("touch done"))
    _, reward, terminated, truncated, info = env.step("no block")
    assert (reward, terminated, truncated, info["status"]) == (1.0, False, True, "TRUNCATED")


@pytest.mark.parametrize("action", ["", "just words", "```bash\nls", {"role": "assistant", "tool_calls": [1]}])
def test_a_malformed_message_costs_a_step_and_is_explained(make_env: MakeEnv, action: Any) -> None:
    env = make_env()
    observation, reward, terminated, truncated, info = env.step(action)
    assert (observation["role"], observation["exit_code"]) == ("environment", -1)
    assert observation["text"].startswith("[not run]\n")
    assert (reward, terminated, truncated, info["step_index"]) == (0.0, False, False, 1)


def test_several_calls_run_in_order_and_are_answered_together(make_env: MakeEnv) -> None:
    env = make_env()
    action = calls(
        ("write_file", {"path": "sub/a b.txt", "content": "héllo\n"}),
        ("run_command", {"command": "cd sub; cat 'a b.txt'; false"}),
        ("write_file", {"path": "here.txt", "content": ""}),
        ("run_command", {"cmd": "ls"}),
        ("run_command", {"command": "ls"}),
    )
    observation, *_ = env.step(action)
    assert observation["text"] == (
        "[1/5 write_file | exit 0 | /app]\nwrote 7 bytes to sub/a b.txt\n"
        "[2/5 run_command | exit 1 | /app/sub]\nhéllo\n"
        "[3/5 write_file | exit 0 | /app/sub]\nwrote 0 bytes to here.txt\n"
        "[4/5 malformed | not run]\nrun_command has no argument 'cmd'; it takes command, timeout.\n"
        "[5/5 run_command | exit 0 | /app/sub]\na b.txt\nhere.txt"
    )
    assert env.last_observation.tool_call_id == "call_0"
    assert env.last_observation.message()["role"] == "tool"


def test_nothing_runs_after_finish(make_env: MakeEnv) -> None:
    env = make_env()
    _, reward, terminated, _, _ = env.step(calls(("finish", {}), ("run_command", {"command": "touch done"})))
    assert (reward, terminated) == (0.0, True)


@pytest.mark.parametrize("path", ["/usr/bin/new", "/app", "/proc/version", "-x/../../usr/y"])
def test_a_file_that_cannot_be_written_is_reported(make_env: MakeEnv, path: str) -> None:
    observation, *_ = make_env().step(calls(("write_file", {"path": path, "content": "x"})))
    assert observation["exit_code"] > 0
    assert "wrote" not in observation["text"]


def test_each_episode_begins_afresh_in_the_same_sandbox(make_env: MakeEnv) -> None:
    env = make_env()
    sandbox = env._sandbox
    for _ in range(3):
        observation, *_ = env.step(bash("ls -A /app; touch /app/done; kept=1; sleep 600 & echo kept:$kept"))
        assert observation["text"].endswith("kept:1")
        assert "done" not in observation["text"]
        env.reset()
        assert env._sandbox is sandbox
    observation, *_ = env.step(bash("pgrep -c sleep; echo kept:$kept"))
    assert observation["text"] == "[exit 0 | /app]\n0\nkept:"


def test_another_task_gets_another_sandbox(make_task: MakeTask) -> None:
    make_task("first", dockerfile="FROM debian\nWORKDIR /app\nRUN echo 1 > which\n")
    root = make_task("second", dockerfile="FROM debian\nWORKDIR /app\nRUN echo 2 > which\n").parent
    env = TerminalEnv(str(root))
    for task, text in (("first", "1"), ("second", "2"), ("first", "1")):
        env.reset(options={"task": task})
        observation, *_ = env.step(bash("cat which"))
        assert observation["text"] == f"[exit 0 | /app]\n{text}"
    env.close()
    env.close()


def test_an_agent_that_wrecks_its_machine_is_scored_not_aborted(make_env: MakeEnv) -> None:
    env = make_env()
    env.step(bash("cd /; rm -rf /app /tmp/* /home/agent 2>/dev/null; kill -9 -1"))
    _, reward, terminated, _, info = env.step(SUBMIT)
    assert (reward, terminated, info["status"]) == (0.0, True, "COMPLETED")


def test_a_shell_that_ends_is_replaced(make_env: MakeEnv) -> None:
    env = make_env()
    env.step(bash("exit 3"))
    observation, *_ = env.step(bash("echo back"))
    assert "back" in observation["text"]


def test_set_up_that_fails_names_the_command(make_task: MakeTask) -> None:
    env = TerminalEnv(str(make_task(dockerfile="FROM debian\nWORKDIR /app\nRUN echo because; exit 3\n")))
    with pytest.raises((UserError, RuntimeError), match="because"):
        env.reset()
    env.close()


def test_an_unknown_backend_is_named(make_task: MakeTask) -> None:
    env = TerminalEnv(str(make_task()), backend="magic")
    with pytest.raises(UserError, match="magic"):
        env.reset()
    env.close()


def test_copies_do_not_see_each_other() -> None:
    envs = TerminalVectorEnv(8)
    envs.reset(seed=0, options={"task": "hello-file"})
    envs.step([bash(f"echo {i} > mine; printf 'Hello, world!\\n' > hello.txt") for i in range(8)])
    observations, *_ = envs.step([bash("cat mine")] * 8)
    assert [text.splitlines()[1] for text in observations["text"]] == [str(i) for i in range(8)]
    _, rewards, terminated, _, _ = envs.step([SUBMIT if i % 2 else bash("rm hello.txt; true") for i in range(8)])
    assert rewards.tolist() == [0.0, 1.0] * 4
    assert terminated.tolist() == [False, True] * 4
    envs.close()
