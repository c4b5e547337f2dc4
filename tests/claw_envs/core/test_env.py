import asyncio
from typing import Any

import gymnasium as gym
import pytest

from claw_envs.core import env as env_module
from claw_envs.core.env import Timings, text_of, tool_calls_of
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import run_sync

from .echo import RICH, EchoEnv, echo_task


def test_the_first_observation_and_info(env: EchoEnv) -> None:
    observation, info = env.reset(options={"task": "t2"})
    assert observation == {"role": "user", "text": f"{RICH} t2"}
    assert observation in env.observation_space
    assert (info["task_id"], info["step_index"], info["status"], info["tools"]) == ("t2", 0, "RUNNING", [])
    assert set(info["timings"]) == {"reset"}


@pytest.mark.parametrize(
    ("action", "status", "reward", "terminated", "truncated"),
    [
        ("hello", "RUNNING", 0.0, False, False),
        ("done", "COMPLETED", 0.5, True, False),
        ("fail", "FAILED", 0.5, True, False),
        ("crash", "ABORTED", 0.0, False, True),
        ("bad verifier", "ABORTED", 0.0, False, True),
    ],
)
def test_how_a_step_ends(env: EchoEnv, action, status, reward, terminated, truncated) -> None:
    env.reset(seed=0)
    observation, *rest, info = env.step(action)
    assert (info["status"], *rest) == (status, reward, terminated, truncated)
    assert observation in env.observation_space
    assert ("report" in info) == ("outcome" in info) == (status in ("COMPLETED", "FAILED"))
    assert ("error" in info) == (status == "ABORTED")


def test_the_step_limit_truncates_and_is_scored(env: EchoEnv) -> None:
    env.reset(seed=0)
    for _ in range(3):
        assert env.step("go on")[1:4] == (0.0, False, False)
    _, reward, terminated, truncated, info = env.step("go on")
    assert (reward, terminated, truncated, info["status"]) == (0.5, False, True, "TRUNCATED")
    assert info["step_index"] == 4


def test_an_end_at_the_last_step_is_not_a_truncation(env: EchoEnv) -> None:
    env.reset(seed=0)
    for _ in range(3):
        env.step("go on")
    assert env.step("done")[4]["status"] == "COMPLETED"


def test_the_episode_time_limit_truncates_at_the_next_step() -> None:
    env = EchoEnv([echo_task("t", episode_timeout=0.0)])
    env.reset()
    assert env.step("go on")[4]["status"] == "TRUNCATED"


def test_limits_can_be_overridden() -> None:
    env = EchoEnv([echo_task("t")], max_steps=1, step_timeout=7.0)
    env.reset()
    assert (env.task.limits.max_steps, env.task.limits.step_timeout) == (1, 7.0)
    assert env.step("go on")[4]["status"] == "TRUNCATED"


def test_an_environment_that_hangs_is_aborted_never_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env_module, "GUARD", 0.0)
    env = EchoEnv([echo_task("t", step_timeout=0.01)])
    env.reset()
    observation, reward, terminated, truncated, info = env.step("hang")
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "ABORTED")
    assert "time limit" in info["error"]
    assert info["error"] in observation["text"]
    assert env.verified == 0


def test_an_aborted_episode_is_never_verified(env: EchoEnv) -> None:
    env.reset()
    env.step("crash")
    assert env.verified == 0


def test_a_bug_propagates(env: EchoEnv) -> None:
    env.reset()
    with pytest.raises(KeyError, match="a bug"):
        env.step("bug")


@pytest.mark.parametrize("ending", ["done", "fail", "crash"])
def test_an_ended_episode_needs_a_reset(env: EchoEnv, ending: str) -> None:
    with pytest.raises(gym.error.ResetNeeded):
        env.step("before any reset")
    env.reset()
    env.step(ending)
    with pytest.raises(gym.error.ResetNeeded):
        env.step("after the end")
    env.reset()
    assert env.step("again")[4]["status"] == "RUNNING"


def test_a_closed_environment_needs_a_reset(env: EchoEnv) -> None:
    env.reset()
    env.close()
    env.close()
    with pytest.raises(gym.error.ResetNeeded):
        env.step("x")


def test_a_failed_reset_leaves_nothing_to_step(env: EchoEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self, task):
        raise InfrastructureError("no machine")

    env.reset()
    with monkeypatch.context() as patch:
        patch.setattr(EchoEnv, "_start", broken)
        with pytest.raises(InfrastructureError, match="no machine"):
            env.reset()
    with pytest.raises(gym.error.ResetNeeded):
        env.step("x")
    env.reset()


@pytest.mark.parametrize("said", ["", "no machine in time"])
def test_a_reset_that_takes_too_long_is_infrastructure(
    env: EchoEnv, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    async def wait(task):
        raise TimeoutError(said)

    monkeypatch.setattr(env, "_start", wait)
    with pytest.raises(InfrastructureError, match=said or "could not be prepared in time"):
        env.reset(seed=0)


def test_seeds_repeat_the_episode_and_later_ones(env: EchoEnv) -> None:
    def three_episodes(seed: int) -> list[object]:
        seen: list[object] = []
        for reset_seed in (seed, None, None):
            first, info = env.reset(seed=reset_seed)
            seen += [first, info["task_id"], *(env.step(text)[0] for text in ("a", "b"))]
        return seen

    assert three_episodes(3) == three_episodes(3)
    assert three_episodes(3) != three_episodes(4)


def test_every_task_is_drawn(env: EchoEnv) -> None:
    env.reset(seed=0)
    assert {env.reset()[1]["task_id"] for _ in range(100)} == {f"t{i}" for i in range(5)}


def test_the_users_mistakes_are_named(env: EchoEnv) -> None:
    with pytest.raises(UserError, match="no task 'nope'"):
        env.reset(options={"task": "nope"})
    with pytest.raises(UserError, match="render_mode"):
        EchoEnv([echo_task("t")], render_mode="human")


@pytest.mark.parametrize(
    "limits", [{"max_steps": 0}, {"max_steps": "3"}, {"max_steps": 2.5}, {"step_timeout": 0}, {"step_timeout": True}]
)
def test_an_impossible_limit_is_named(limits: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"{next(iter(limits))} must be a .*number above 0"):
        EchoEnv([echo_task("t1")], **limits)


@pytest.mark.parametrize("action", [None, 3, [], ["a"], b"x", {"content": 3}])
def test_what_is_no_message_costs_a_step(env: EchoEnv, action: Any) -> None:
    env.reset(seed=0)
    *_, info = env.step(action)
    assert (info["status"], info["step_index"]) == ("RUNNING", 1)


def test_the_text_of_a_message_in_parts() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "image_url"}, "x", {"type": "text", "text": "two"}]
    assert text_of({"role": "assistant", "content": parts}) == "one\ntwo"


def test_an_action_may_be_an_openai_message(env: EchoEnv) -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    env.reset(seed=0)
    assert env.step({"content": "hi", "tool_calls": calls})[0]["text"].startswith("hi|")
    assert env.step({"content": None})[0]["text"].startswith("|")
    assert '"arguments"' in env.render()
    assert (text_of({"content": None}), tool_calls_of({"tool_calls": None}), tool_calls_of("x")) == ("", [], [])


def test_the_transcript_shows_who_said_what(env: EchoEnv) -> None:
    env.reset(seed=0, options={"task": "t1"})
    env.step("hello")
    transcript = env.render()
    assert transcript.startswith(f"[user]\n{RICH} t1\n\n[assistant]\nhello\n\n[tool]\nhello|")
    env.reset(seed=0)
    assert "hello" not in env.render()


def test_many_episodes_run_on_one_loop() -> None:
    async def episode(number: int) -> str:
        env = EchoEnv([echo_task("t")])
        await env.areset(seed=number)
        texts = [(await env.astep(f"e{number}"))[0]["text"] for _ in range(3)]
        await env.aclose()
        assert all(text.startswith(f"e{number}|") for text in texts)
        return texts[-1]

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(episode(number) for number in range(100)))

    assert len(set(asyncio.run(all_of_them()))) == 100


def test_the_synchronous_face_refuses_its_own_loop(env: EchoEnv) -> None:
    async def inside() -> None:
        env.reset()

    with pytest.raises(RuntimeError, match="await areset/astep/aclose"):
        run_sync(inside())


def test_the_synchronous_face_works_inside_another_loop(env: EchoEnv) -> None:
    async def notebook() -> str:
        env.reset()
        return str(env.step("hi")[4]["status"])

    assert asyncio.run(notebook()) == "RUNNING"


def test_timings_compare_equal_whatever_they_hold() -> None:
    assert Timings(a=1.0) == Timings(b=2.0)
    assert Timings(a=1.0) != {"a": 1.0}
