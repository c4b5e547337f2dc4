"""Conversations end as documented, and what goes wrong is never scored."""

import asyncio
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import claw_envs  # noqa: F401  (registers the ids)
from claw_envs.chat.env import ChatEnv
from claw_envs.chat.simulator import Reaction
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task


class Scripted:
    """A user who reacts as it was told, reply by reply."""

    def __init__(self, *reactions: Reaction | Exception) -> None:
        self.left, self.heard, self.closed = list(reactions), [], 0

    async def open(self, task: Task, *, rng: np.random.Generator) -> str:
        return f"Hello, {task.id}"

    async def react(self, reply: str) -> Reaction:
        self.heard.append(reply)
        reaction = self.left.pop(0)
        if isinstance(reaction, Exception):
            raise reaction
        return reaction

    async def aclose(self) -> None:
        self.closed += 1


HAPPY = Reaction("Thanks!", "thanks", content=True, done=True)
AGAIN = Reaction("Again, please.", "reask", content=False, done=False)
LEFT = Reaction("What's for lunch?", "unrelated", content=False, done=True)


def env_with(user: Scripted) -> ChatEnv:
    env = ChatEnv(simulator=lambda task: user)
    observation, _ = env.reset(seed=0, options={"task": "student-wp-001"})
    assert observation == {"role": "user", "text": "Hello, student-wp-001"}
    return env


def test_a_content_user_ends_the_episode_with_one() -> None:
    user = Scripted(AGAIN, HAPPY)
    env = env_with(user)
    observation, reward, terminated, truncated, _ = env.step("to find")
    assert (observation["text"], reward, terminated, truncated) == ("Again, please.", 0.0, False, False)
    observation, reward, terminated, truncated, info = env.step({"role": "assistant", "content": "12 apples."})
    assert (observation["role"], observation["text"]) == ("user", "Thanks!")
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert (info["status"], info["report"]) == (
        "COMPLETED",
        {"reactions": ["reask", "thanks"], "content_at_once": False},
    )
    assert user.heard == ["to find", "12 apples."]
    env.close()
    env.close()
    assert user.closed == 1


def test_a_user_who_drops_the_subject_ends_it_with_zero() -> None:
    _, reward, terminated, _, info = env_with(Scripted(LEFT)).step("to find")
    assert (reward, terminated, info["status"]) == (0.0, True, "COMPLETED")


def test_the_limit_truncates_and_still_scores() -> None:
    env = env_with(Scripted(AGAIN, AGAIN, AGAIN))
    ends = [env.step("to find")[1:4] for _ in range(3)]
    assert ends == [(0.0, False, False), (0.0, False, False), (0.0, False, True)]


def test_content_at_once() -> None:
    assert env_with(Scripted(HAPPY)).step("12")[4]["report"]["content_at_once"] is True


def test_tool_calls_are_told_off_and_cost_a_step() -> None:
    user = Scripted(HAPPY)
    env = env_with(user)
    call: dict[str, Any] = {"content": None, "tool_calls": [{"function": {"name": "ls", "arguments": "{}"}}]}
    observation, reward, terminated, _, info = env.step(call)
    assert observation["role"] == "environment"
    assert "no tools" in observation["text"]
    assert (reward, terminated, info["step_index"], user.heard) == (0.0, False, 1, [])


def test_a_user_that_cannot_be_simulated_aborts() -> None:
    _, reward, terminated, truncated, info = env_with(Scripted(InfrastructureError("gone"))).step("12")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["status"], info["error"]) == ("ABORTED", "gone")
    assert "outcome" not in info


def test_seeded_conversations_repeat() -> None:
    def talk(seed: int) -> list[str]:
        env = gym.make("claw/chat-v0")
        said = [env.reset(seed=seed)[0]["text"]]
        for _ in range(3):
            observation, _, terminated, truncated, _ = env.step("Let's go step by step.")
            said.append(observation["text"])
            if terminated or truncated:
                break
        return said

    talks = [talk(seed) for seed in range(20)]
    assert talks == [talk(seed) for seed in range(20)]
    assert len({tuple(each) for each in talks}) > 15


@pytest.mark.parametrize("copies", [1, 8, 64])
def test_vector_equals_single(copies: int) -> None:
    replies = ["12 apples.", "To find this,\nstep by step", "🙂 naïve"]
    vector = gym.make_vec("claw/chat-v0", num_envs=copies)
    observations, _ = vector.reset(seed=5)
    together = [observations["text"]]
    for reply in replies[:1]:
        together.append(vector.step([reply] * copies)[0]["text"])
    for index in range(copies):
        single = gym.make("claw/chat-v0")
        assert single.reset(seed=5 + index)[0]["text"] == together[0][index]
        assert single.step(replies[0])[0]["text"] == together[1][index]
    vector.close()


def test_two_conversations_at_once_do_not_mix() -> None:
    async def both() -> list[str]:
        envs = [ChatEnv(), ChatEnv()]
        ids = ["student-wp-001", "student-wp-002"]
        await asyncio.gather(*(env.areset(seed=0, options={"task": id}) for env, id in zip(envs, ids, strict=True)))
        steps = await asyncio.gather(*(env.astep("It is 99.") for env in envs))
        return [step[0]["text"] for step in steps]

    first, second = asyncio.run(both())
    alone = ChatEnv()
    alone.reset(seed=0, options={"task": "student-wp-002"})
    assert alone.step("It is 99.")[0]["text"] == second
    assert first
