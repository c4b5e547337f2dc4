"""`JudgeReward` on registered environments and on one that breaks."""

import asyncio
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import pytest

import claw_envs
from claw_envs.core.env import Outcome, Step, tool_calls_of
from claw_envs.core.episode import Answer, Observation, Status, Turn, Verdict
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.llm import ChatClient
from claw_envs.core.loop import run_sync
from claw_envs.core.task import Task
from judges import JudgeReward, OutcomeJudge, PRMJudge, RulesJudge

from .chat_server import ChatServer
from .turns import TERMINAL

BAD = "To find the answer, let's break it down step by step:\n1. First...\n2. Then..."


class Keeping:
    """Keeps what it was asked, and abstains."""

    def __init__(self) -> None:
        self.asked: list[tuple[Turn, tuple[Turn, ...], Task]] = []

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        self.asked.append((turn, tuple(history), task))
        return Verdict(status="abstained")


class Fragile(claw_envs.ClawEnv):
    """Ends by `done`; `crash` is the infrastructure's fault."""

    family = "terminal"

    async def _start(self, task: Task) -> Observation:
        return Observation(role="user", text=task.instruction)

    async def _act(self, action: Any) -> Step:
        if action == "crash":
            raise InfrastructureError("the sandbox is gone")
        answers = [Answer(call["id"], "") for call in tool_calls_of(action)]
        observation = Observation(role="tool", text="", exit_code=0, answers=answers)
        return Step(observation, Status.COMPLETED if action == "done" else None)

    async def _verify(self) -> Outcome:
        return Outcome(0.5)

    async def _stop(self) -> None:
        pass


def fragile() -> Fragile:
    return Fragile([TERMINAL])


def test_the_score_is_added_to_the_reward() -> None:
    env = JudgeReward(fragile(), RulesJudge())
    env.reset()
    _, reward, terminated, _, info = env.step("ls")
    assert (reward, terminated, info["verdict"]) == (1.0, False, Verdict(score=1.0, votes=[1.0]))
    _, reward, terminated, _, info = env.step("done")
    assert (reward, terminated, info["outcome"]) == (1.5, True, 0.5)
    env.close()


def test_an_abstention_adds_nothing_and_history_grows() -> None:
    judge = Keeping()
    env = JudgeReward(fragile(), judge)
    for episode in range(2):
        env.reset()
        env.step("ls")
        *_, info = env.step({"role": "assistant", "content": "done", "tool_calls": []})
        assert info["verdict"].status == "abstained"
        first, second = judge.asked[2 * episode :]
        assert [message["content"] for message in second[0].messages] == [TERMINAL.instruction, "ls", ""]
        assert (first[0].step, second[0].step, second[1]) == (0, 1, (first[0],))
        assert second[2].id == TERMINAL.id
    assert len({turn.id for turn, _, _ in judge.asked}) == 4


def test_each_tool_call_is_answered_in_the_history() -> None:
    judge = Keeping()
    env = JudgeReward(fragile(), judge)
    env.reset()
    env.step({"role": "assistant", "content": "", "tool_calls": [{"id": "a"}, {"id": "b"}]})
    env.step("done")
    shown = judge.asked[1][0].messages
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "tool"]
    assert [message.get("tool_call_id") for message in shown[2:]] == ["a", "b"]


def test_an_aborted_step_is_not_judged() -> None:
    judge = Keeping()
    env = JudgeReward(fragile(), judge)
    env.reset()
    _, reward, _, truncated, info = env.step("crash")
    assert (reward, truncated, info["status"]) == (0.0, True, "ABORTED")
    assert "verdict" not in info
    assert judge.asked == []


def test_asynchronously_and_stacked() -> None:
    async def run() -> None:
        env = JudgeReward(JudgeReward(fragile(), RulesJudge()), OutcomeJudge())
        _, info = await env.areset(seed=1)
        assert info["task_id"] == TERMINAL.id
        _, reward, *_ = await env.astep("ls")
        assert reward == 1.0
        _, reward, terminated, _, _ = await env.astep("done")
        assert terminated
        assert reward == 0.5 + 1.0 + 1.5, "the outer judge sees the reward of the inner one"
        await env.unwrapped.aclose()

    asyncio.run(run())


def test_on_a_made_environment_with_recorded_arguments() -> None:
    judge = RulesJudge()
    env = JudgeReward(gym.make("claw/chat-v0"), judge)
    env.reset(seed=3)
    _, _, _, _, info = env.step(BAD)
    assert isinstance(info["verdict"], Verdict)
    assert env.spec is not None
    assert env.spec.additional_wrappers[-1].kwargs == {"judge": judge}
    again = gym.make(env.spec)
    assert isinstance(again, JudgeReward)
    again.reset(seed=3)
    assert again.step(BAD)[4]["verdict"] == info["verdict"]
    env.close()
    again.close()


@pytest.mark.parametrize("answer", [BAD, "He has 999 left.", "I would say it is 12.", "Nice work, Maria!"])
def test_the_rules_agree_with_what_the_simulated_users_meant(answer: str) -> None:
    meant = {"thanks": 1, "reask": -1, "vague": -1, "correction": -1, "wrong": -1, "unrelated": 0}
    env = JudgeReward(gym.make("claw/chat-v0"), RulesJudge())
    for seed in range(40):
        env.reset(seed=seed)
        scores, ended = [], False
        while not ended:
            *_, terminated, truncated, info = env.step(answer)
            scores.append(info["verdict"].score)
            ended = terminated or truncated
        assert scores == [meant[kind] for kind in info["report"]["reactions"]]
    env.close()


def test_with_a_judge_behind_an_endpoint() -> None:
    async def begin() -> ChatServer:
        return await ChatServer(lambda _: "Progress.\n\\boxed{1}").__aenter__()

    server = run_sync(begin())
    client = ChatClient(server.url, "judge")
    env = JudgeReward(fragile(), PRMJudge(client, votes=3))
    env.reset()
    _, reward, *_, info = env.step("ls")
    assert (reward, info["verdict"].votes) == (1.0, [1.0, 1.0, 1.0])
    env.close()
    run_sync(client.aclose())
    run_sync(server.__aexit__())


def test_only_our_environments() -> None:
    with pytest.raises(UserError, match="CartPole"):
        JudgeReward(gym.make("CartPole-v1"), RulesJudge())  # type: ignore[arg-type]
