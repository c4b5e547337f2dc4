"""Whole episodes of a tiny repair: how each way to act and to end comes out, and what the agent is told."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import msgspec
import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import run_sync
from claw_envs.core.task import Task
from claw_envs.sandbox.pool import SandboxPool
from claw_envs.swe.env import OUTPUT_BYTES, SweEnv
from tests.claw_envs.swe.tiny import make_task

FIX = "sed -i '0,/a - b/s//a + b/' calc.py"
SUBMIT = "```bash\nsubmit\n```"


def bash(command: str) -> str:
    return f"THOUGHT: so it goes.\n\n```bash\n{command}\n```"


def tag(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return make_task(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def env(task: Task) -> Iterator[SweEnv]:
    """One environment for all episodes that need no arguments of their own."""
    env = SweEnv([task])
    yield env
    env.close()


def play(env: SweEnv, *messages: Any) -> tuple[float, dict[str, Any], list[str]]:
    """The reward and info of the last step, and what was seen."""
    env.reset(seed=0)
    seen, reward, info = [env.last_observation.text], 0.0, {}
    for message in messages:
        _, reward, _, _, info = env.step(message)
        seen.append(env.last_observation.text)
    return reward, info, seen


ADD, PLUS = "add(a, b):\n    return a - b", "add(a, b):\n    return a + b"
ENDS = {
    "repaired": (FIX, "resolved"),
    "repaired by a tool": (tag("edit_file", path="calc.py", old=ADD, new=PLUS), "resolved"),
    "nothing changed": (":", "empty_patch"),
    "changed and taken back": (f"{FIX}; git stash -q", "empty_patch"),
    "something else changed": ("echo '# more' >> calc.py", "unresolved"),
    "too much changed": ("sed -i 's/a - b/a + b/' calc.py", "unresolved"),
    "the tests edited to pass": ("echo 'print(\"PASSED check.py::test_add\")' > check.py", "unresolved"),
    "the tests removed": (f"{FIX}; rm check.py", "resolved"),
    "a file of binary content added": (f"{FIX}; head -c 3000 /dev/urandom > blob.bin", "resolved"),
    "moved": (f"{FIX}; mkdir pkg; git mv calc.py pkg/calc.py; ln -s pkg/calc.py calc.py", "resolved"),
    "odd names and modes": (f"{FIX}; chmod +x calc.py; mkdir 'a b'; echo ü > 'a b/n\u00e4me'", "resolved"),
    "not utf-8": (f"{FIX}; printf '# caf\\351\\n' >> calc.py; sed -i '1i # coding: latin-1' calc.py", "resolved"),
    "too big": (f"{FIX}; seq 1000000 > numbers", "patch_too_big"),
    "committed": (f"{FIX}; git commit -q -a -m fix", "resolved"),
    "rebased": (f"{FIX}; git commit -q --amend -a -m fix; git checkout -q -b other", "resolved"),
    "hostile settings": (
        f"{FIX}; git config filter.f.clean 'sleep 999'; echo '* filter=f' > .git/info/attributes; "
        "git config diff.external false; git config core.hooksPath /testbed",
        "resolved",
    ),
    "hostile attributes": (f"{FIX}; echo '* -text -diff filter=lfs' > .gitattributes", "resolved"),
    "daemons that hold the disk": (
        f"{FIX}; (setsid sh -c 'exec 9>/tmp/x; rm /tmp/x; cat /dev/zero >&9; sleep 999' &) >/dev/null 2>&1",
        "resolved",
    ),
    "a fork bomb": (f"{FIX}; b() {{ b | b & }}; b", "resolved"),
    "everything killed": (f"{FIX}; kill -9 -1", "resolved"),
    "python poisoned": (
        f"{FIX}; for d in ~/.local/lib/python3.{{9..14}}/site-packages; do mkdir -p $d; "
        "echo 'import os; os._exit(1)' > $d/usercustomize.py; done",
        "resolved",
    ),
    "the repository removed": ("rm -rf /testbed", "repository_gone"),
    "its history removed": (f"{FIX}; rm -rf .git", "repository_gone"),
    "its history made again": (f"{FIX}; rm -rf .git; git init -q; git add -A; git commit -qm x", "repository_gone"),
}
FAULTS = ("repository_gone", "patch_too_big")


@pytest.mark.parametrize(("command", "verdict"), ENDS.values(), ids=ENDS)
def test_how_an_episode_ends(env: SweEnv, command: str, verdict: str) -> None:
    reward, info, seen = play(env, command if command.startswith("<") else bash(command), SUBMIT)
    report = info["report"]
    assert report["status"] == verdict
    assert reward == (1 if verdict == "resolved" else -1)
    assert info["status"] == ("FAILED" if verdict == "repository_gone" else "COMPLETED")
    assert report["resolved"] == (verdict == "resolved")
    assert report["fail_to_pass"].keys() == {"success", "failure"}
    assert bool(report["reason"]) == (verdict not in ("resolved", "unresolved"))
    why = f"\n[{report['reason']}]" if verdict in FAULTS else ""
    assert seen[-1] == "[submitted]\nThe repair is being tested." + why


def test_what_the_agent_is_told(env: SweEnv) -> None:
    _, info, seen = play(env, bash("cd /tmp; x=3"), "ls", bash("echo $x; pwd; (exit 4)"), bash("seq 100000; ls /none"))
    first, *rest = seen
    assert "<issue>\nadd subtracts\n</issue>" in first
    assert first.endswith("\n\n[20 turns left]")
    assert rest[0] == "[exit 0 | /tmp]\n[19 turns left]"
    assert rest[1].startswith("[not run]\nThere was no command in the message.")
    assert rest[1].endswith("\n[18 turns left]")
    assert rest[2] == "[exit 4 | /tmp]\n3\n/tmp\n[17 turns left]"
    assert rest[3].startswith("[exit 2 | /tmp | 578")
    assert rest[3].endswith("No such file or directory\n[16 turns left]")
    assert OUTPUT_BYTES < len(rest[3]) < OUTPUT_BYTES + 200
    assert info["status"] == "RUNNING"
    assert info["tools"][0]["function"]["name"] == "bash"
    for word in ("```bash\nsubmit\n```", "180 seconds", "view_file(path, start?, end?)", "edit_file(path, old, new)"):
        assert word in info["system_prompt"]


def test_the_prompt_names_no_tool_that_is_not_there(task: Task) -> None:
    env = SweEnv([task], tools=False, step_timeout=7)
    _, info = env.reset(seed=0)
    env.close()
    assert "tool" not in info["system_prompt"]
    assert "longer than 7 seconds" in info["system_prompt"]


def test_several_calls_and_their_answers(env: SweEnv) -> None:
    def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
        return {"id": f"c{number}", "function": {"name": name, "arguments": json.dumps(arguments)}}

    calls = [call(1, "bash", command="cd /tmp"), call(2, "view_file", path="none"), call(3, "bash", command="pwd")]
    _, _, seen = play(env, {"role": "assistant", "content": "", "tool_calls": calls})
    assert seen[-1].splitlines() == [
        "[1/3 bash | exit 0 | /tmp]",
        "[2/3 view_file | exit 1 | /tmp]",
        "/tmp/none: there is no such file",
        "[3/3 bash | exit 0 | /tmp]",
        "/tmp",
        "[19 turns left]",
    ]
    answers = env.last_observation.answers
    assert [answer.call_id for answer in answers] == ["c1", "c2", "c3"]
    assert answers[0].text == "[exit 0 | /tmp]"
    assert answers[2].text == "[exit 0 | /tmp]\n/tmp\n[19 turns left]"


def test_nothing_is_done_after_a_submission(env: SweEnv) -> None:
    reward, info, seen = play(env, tag("bash", command=FIX) + tag("submit") + tag("bash", command="git checkout ."))
    assert (reward, info["status"]) == (1, "COMPLETED")
    assert "[3/3 bash | not run]\nthe task was already submitted" in seen[-1]


def test_a_command_that_runs_over_is_stopped_and_the_shell_goes_on(task: Task) -> None:
    env = SweEnv([task], step_timeout=1)
    reward, info, seen = play(
        env, bash(f"x=3; {FIX}"), bash("sleep 1000"), bash("cat; echo $x"), bash("sleep 99; echo hi"), SUBMIT
    )
    env.close()
    assert seen[2] == "[stopped after 1 s | /testbed]\n[stopped: the command ran longer than 1 s]\n[18 turns left]"
    assert seen[3] == "[exit 0 | /testbed]\n3\n[17 turns left]"
    assert seen[4].startswith("[stopped after 1 s | /testbed]")
    assert (reward, info["report"]["status"]) == (1, "resolved")


@pytest.mark.parametrize(
    ("command", "reward", "verdict"),
    [(FIX, 1, "resolved"), (":", -1, "empty_patch"), ("rm -rf .git", -1, "repository_gone")],
)
def test_a_limit_ends_an_episode_that_is_scored_all_the_same(
    task: Task, command: str, reward: int, verdict: str
) -> None:
    env = SweEnv([task], max_steps=2)
    outcome, info, seen = play(env, "hm", bash(command))
    env.close()
    assert seen[0].endswith("[2 turns left]")
    assert seen[1].endswith("\n[1 turn left: submit now, what is in the repository counts]")
    assert seen[2] == "[exit 0 | /testbed]"
    assert (outcome, info["status"], info["report"]["status"]) == (reward, "TRUNCATED", verdict)


def test_an_episode_that_is_truncated_from_outside_is_scored(env: SweEnv) -> None:
    play(env, bash(FIX))
    info = run_sync(env.atruncate())
    assert (info["outcome"], info["status"]) == (1, "TRUNCATED")


def test_an_episode_leaves_nothing_to_the_next(env: SweEnv) -> None:
    play(env, bash(f"{FIX}; git commit -qam x; rm check.py; touch /tmp/x; x=3"))
    _, _, seen = play(env, bash("git status --porcelain; git log --oneline | wc -l; ls /tmp; echo $x"))
    assert seen[-1] == "[exit 0 | /testbed]\n1\n[19 turns left]"


def test_many_at_once_out_of_a_pool(task: Task) -> None:
    async def episode(pool: SandboxPool, command: str) -> float:
        env = SweEnv([task], pool=pool)
        await env.areset(seed=0)
        await env.astep(bash(command))
        _, reward, *_ = await env.astep(SUBMIT)
        await env.aclose()
        return reward

    async def main() -> list[float]:
        async with SandboxPool(capacity=4) as pool:
            return await asyncio.gather(*(episode(pool, command) for command in [FIX, ":", FIX, "rm -rf .git"]))

    assert asyncio.run(main()) == [1, -1, 1, -1]


def test_a_vector_environment(task: Task) -> None:
    vector = gym.make_vec("claw/swe-v0", num_envs=2, tasks=[task])
    vector.reset(seed=0)
    vector.step([bash(FIX), bash(":")])
    _, rewards, *_ = vector.step([SUBMIT, SUBMIT])
    vector.close()
    assert list(rewards) == [1, -1]


def test_no_repository_is_no_fault_of_the_agent(task: Task, tmp_path: Path) -> None:
    assert task.sandbox is not None
    (tmp_path / "file").write_text("x")
    sandbox = msgspec.structs.replace(task.sandbox, files={"/testbed/file": str(tmp_path / "file")})
    env = SweEnv([msgspec.structs.replace(task, sandbox=sandbox)])
    with pytest.raises(InfrastructureError, match="set-up command"):
        env.reset()
    env.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"backend": "local"}, "use the namespace or docker sandbox"),
        ({"backend": "none"}, "none"),
        ({"tools": ["x"]}, "tools takes"),
        ({"max_patch_bytes": 0}, "max_patch_bytes must be a whole number of at least 1, got 0"),
        ({"reruns": -1}, "reruns must be a whole number of at least 0, got -1"),
        ({"reruns": True}, "reruns must be"),
    ],
)
def test_mistakes_are_named(task: Task, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        SweEnv([task], **arguments)


def test_a_task_without_a_sandbox_is_named(task: Task) -> None:
    env = SweEnv([msgspec.structs.replace(task, sandbox=None)])
    with pytest.raises(UserError, match="has no sandbox"):
        env.reset()


def test_swebench_is_missed_before_the_first_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claw_envs.swe.grading.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r'a verdict needs swebench: pip install "claw-envs\[swe\]"'):
        SweEnv()
