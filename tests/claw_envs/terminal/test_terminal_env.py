"""Episodes in real sandboxes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from claw_envs.core.env import Outcome
from claw_envs.core.episode import Answer
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import run_sync
from claw_envs.sandbox.pool import SandboxPool
from claw_envs.terminal.env import TerminalEnv, TerminalVectorEnv, share_passed
from claw_envs.terminal.tools import TOOLS

from .acting import SUBMIT, bash, calls

MakeTask = Callable[..., Path]
MakeEnv = Callable[..., TerminalEnv]


def test_the_instruction_is_what_the_user_says_first(make_env: MakeEnv) -> None:
    env = make_env()
    observation, info = env.reset(seed=1)
    assert (observation["role"], observation["text"]) == ("user", "Create /app/done.")
    assert observation["exit_code"] == -1
    assert info["task_id"] == "sample"
    assert [tool["function"]["name"] for tool in info["tools"]] == list(TOOLS)
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


@pytest.mark.parametrize(("network", "mode", "interfaces"), [("none", "public", 1), (None, "no-network", 1)])
def test_the_network_is_the_tasks_own_or_what_the_environment_says(
    make_env: MakeEnv, network: Any, mode: str, interfaces: int
) -> None:
    env = make_env(toml=f'[environment]\nnetwork_mode = "{mode}"\n', settings={"network": network})
    observation, *_ = env.step(bash("tail -n +3 /proc/net/dev | wc -l"))
    assert observation["text"].endswith(f"\n{interfaces}")


@pytest.mark.parametrize(("name", "value"), [("network", "some"), ("network", 3), ("backend", "namespce")])
def test_an_unknown_setting_is_refused_at_once(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=name if name == "network" else "no sandbox backend"):
        TerminalEnv(**{name: value})


@pytest.mark.parametrize("action", [None, 3, [], b"x"])
def test_what_is_no_message_is_explained(make_env: MakeEnv, action: Any) -> None:
    observation, *_, info = make_env().step(action)
    assert observation["text"].startswith("[not run]\nA message is a text")
    assert info["status"] == "RUNNING"


@pytest.mark.parametrize("hosts", [("example.org",), ["example.org"]])
def test_an_allow_list_over_the_tasks_own_policy(make_env: MakeEnv, hosts: Any) -> None:
    observation, *_ = make_env(settings={"network": hosts}).step(bash("echo $https_proxy"))
    assert "127.0.0.1" in observation["text"]


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
    unreadable = env.last_observation.answers[3].text.removeprefix("[not run]\n")
    assert unreadable.startswith("run_command: Object contains unknown field `cmd`. It takes command, timeout.")
    assert observation["text"] == (
        "[1/5 write_file | exit 0 | /app]\nwrote 7 bytes to sub/a b.txt\n"
        "[2/5 run_command | exit 1 | /app/sub]\nhéllo\n"
        "[3/5 write_file | exit 0 | /app/sub]\nwrote 0 bytes to here.txt\n"
        f"[4/5 malformed | not run]\n{unreadable}\n"
        "[5/5 run_command | exit 0 | /app/sub]\na b.txt\nhere.txt"
    )
    assert env.last_observation.answers[1] == Answer("call_1", "[exit 1 | /app/sub]\nhéllo")
    messages = env.last_observation.messages()
    assert [message["role"] for message in messages] == ["tool"] * 5
    assert [message["tool_call_id"] for message in messages] == [f"call_{i}" for i in range(5)]


def test_a_message_without_ids_is_answered_by_one_user_message(make_env: MakeEnv) -> None:
    env = make_env()
    env.step(bash("echo hi"))
    assert env.last_observation.messages() == [{"role": "user", "content": "[exit 0 | /app]\nhi"}]
    env.step('<tool_call>{"name": "run_command", "arguments": {"command": "echo a"}}</tool_call>' * 2)
    [message] = env.last_observation.messages()
    assert message["role"] == "user"
    assert message["content"].count("run_command | exit 0 | /app]\na") == 2


def test_every_call_of_a_message_is_answered_also_one_that_is_not_run(make_env: MakeEnv) -> None:
    env = make_env()
    env.step(
        {"role": "assistant", "tool_calls": [{"id": "a"}, "b", *calls(("finish", {}), ("finish", {}))["tool_calls"]]}
    )
    answers = env.last_observation.answers
    assert [answer.call_id for answer in answers] == ["a", "", "call_0", "call_1"]
    assert [answer.text.partition("\n")[0] for answer in answers] == [
        "[not run]",
        "[not run]",
        "[submitted]",
        "[not run]",
    ]


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
    sandbox = env._lease.sandbox
    for _ in range(3):
        observation, *_ = env.step(bash("ls -A /app; touch /app/done; kept=1; sleep 600 & echo kept:$kept"))
        assert observation["text"].endswith("kept:1")
        assert "done" not in observation["text"]
        env.reset()
        assert env._lease.sandbox is sandbox
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


WEDGES = {
    "exit": "exit 3",
    "exec": "exec true",
    "kill": "kill -9 $$",
    "reads stdin": "cat; read x",
    "background": "sleep 600 & yes >/dev/null & (sleep 600; echo late) & echo begun",
    "detached": "setsid nohup sleep 600 >/dev/null 2>&1 < /dev/null & disown",
    "markers": "printf '\\0%s 0 /\\0' 0123456789abcdef; printf 'exit 0' >&201; echo >&200",
    "closes descriptors": "exec 0<&- 1>&- 2>&-",
    "closes all descriptors": 'for fd in /proc/$$/fd/*; do eval "exec ${fd##*/}>&-"; done',
    "no prompt": "PROMPT_COMMAND='exit 4'; PS1='$(exit 5)'; trap 'exit 6' DEBUG ERR EXIT RETURN",
    "strict": "set -euo pipefail; false",
    "aliases": "builtin() { echo mine; }; eval() { echo mine; }; printf() { echo mine; }; exit() { echo mine; }",
    "stops itself": "kill -STOP $$",
    "syntax": "if then ( ' \" $(",
    "redirects": "exec >/dev/null 2>&1",
    "an unfinished document": "cat <<END\nno end",
    "never ends": "while :; do :; done",
    "deaf": "trap '' INT TERM HUP; while :; do sleep 1; done",
    "no text": "head -c 100000 /dev/urandom",
}


@pytest.mark.parametrize("command", WEDGES.values(), ids=WEDGES)
def test_no_command_wedges_the_episode(make_env: MakeEnv, command: str) -> None:
    env = make_env(step_timeout=1.0)
    observation, _, _, _, info = env.step(bash(command))
    assert info["status"] == "RUNNING"
    assert observation["text"].encode()
    for _ in range(3):
        observation, _, _, _, info = env.step(bash("echo back $((40 + 2))"))
        if "back 42" in observation["text"]:
            break
    assert "back 42" in observation["text"]
    _, reward, terminated, _, info = env.step(SUBMIT)
    assert (reward, terminated, info["status"]) == (0.0, True, "COMPLETED")


def test_output_is_valid_text_whatever_bytes_came(make_env: MakeEnv) -> None:
    env = make_env()
    observation, *_ = env.step(bash(r"printf 'a\xff\xfe\x00b\xed\xa0\x80'"))
    assert observation["text"].startswith("[exit 0 | /app]\na\ufffd\ufffd\0b")
    assert env.observation_space.contains(observation)


def test_a_path_that_is_too_long_is_the_agents_mistake(make_env: MakeEnv) -> None:
    observation, *_, info = make_env().step(calls(("write_file", {"path": "x" * 200_000, "content": ""})))
    assert observation["text"].startswith("[not run]\nThe file cannot be written")
    assert info["status"] == "RUNNING"


def test_a_file_can_be_written_from_a_folder_that_is_gone(make_env: MakeEnv) -> None:
    env = make_env()
    env.step(bash("mkdir /tmp/d; cd /tmp/d; rmdir /tmp/d"))
    env.step(calls(("write_file", {"path": "/tmp/f", "content": "x"}), ("write_file", {"path": "f", "content": ""})))
    first, second = (answer.text for answer in env.last_observation.answers)
    assert first == "[exit 0 | /tmp/d]\nwrote 1 bytes to /tmp/f"
    assert "exit 0" not in second


def test_a_sandbox_that_dies_in_a_step_aborts_the_episode(make_env: MakeEnv) -> None:
    env = make_env()
    sandbox: Any = env._lease.sandbox
    sandbox._holder.kill()
    _, reward, terminated, truncated, info = env.step(bash("sleep 1000"))
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "ABORTED")
    _, info = env.reset()
    assert info["status"] == "RUNNING"


def test_the_verifiers_log_is_kept(make_env: MakeEnv) -> None:
    env = make_env(test="echo the log; echo 0.5 > /logs/verifier/reward.txt\n")
    *_, info = env.step(SUBMIT)
    assert info["report"]["log"] == "the log"
    env = make_env(test="echo what went wrong; exit 3\n")
    *_, info = env.step(SUBMIT)
    assert info["status"] == "ABORTED"
    assert "what went wrong" in info["error"]


COUNTED = """# what pytest prints:
echo '===== 1 failed, 3 passed in 0.01s ====='
echo 0 > /logs/verifier/reward.txt
"""


def test_the_outcome_may_be_the_share_of_tests_that_passed(make_env: MakeEnv) -> None:
    _, reward, _, _, info = make_env(test=COUNTED, settings={"outcome": "tests"}).step(SUBMIT)
    assert (reward, info["outcome"], info["report"]["passed"], info["report"]["total"]) == (0.5, 0.5, 3, 4)
    _, reward, *_ = make_env(test=COUNTED).step(SUBMIT)
    assert reward == 0.0
    _, reward, _, _, info = make_env(settings={"outcome": "tests"}).step(SUBMIT)
    assert (reward, info["status"]) == (0.0, "ABORTED")
    assert "counted no tests" in info["error"]


@pytest.mark.parametrize(("passed", "total", "score"), [(0, 3, -1.0), (3, 3, 1.0), (1, 4, -0.5)])
def test_none_passed_is_minus_one(make_task: MakeTask, passed: int, total: int, score: float) -> None:
    [task] = TerminalEnv(str(make_task())).tasks
    assert share_passed(Outcome(0.0, {"passed": passed, "total": total}), task).score == score
    with pytest.raises(InfrastructureError, match="sample"):
        share_passed(Outcome(0.0, {"passed": 0, "total": 0}), task)


def test_an_unknown_outcome_is_named(make_task: MakeTask) -> None:
    with pytest.raises(UserError, match="'reward' or 'tests'"):
        TerminalEnv(str(make_task()), outcome="score")  # type: ignore[arg-type]


def test_a_made_environment_keeps_its_pool_in_its_spec() -> None:
    pool = SandboxPool()
    env = gym.make("claw/terminal-v0", pool=pool)
    assert env.spec is not None
    assert env.spec.kwargs["pool"] is pool
    env.close()


def test_sandboxes_come_from_a_pool_and_go_back(make_task: MakeTask) -> None:
    async def main() -> None:
        async with SandboxPool(capacity=2) as pool:
            env = TerminalEnv(str(make_task()), pool=pool)
            seen = set()
            for _ in range(4):
                await env.areset(seed=0)
                seen.add(env._lease.sandbox)
                await env.astep(bash("ls -A; touch left; kept=1"))
                assert "left" not in env.last_observation.text
                *_, info = await env.astep(SUBMIT)
                assert info["status"] == "COMPLETED"
            assert len(seen) <= 2
            await env.aclose()
            assert not pool._leased

    run_sync(main())


def test_set_up_that_fails_names_the_command(make_task: MakeTask) -> None:
    env = TerminalEnv(str(make_task(dockerfile="FROM debian\nWORKDIR /app\nRUN echo because; exit 3\n")))
    with pytest.raises((UserError, RuntimeError), match="because"):
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
