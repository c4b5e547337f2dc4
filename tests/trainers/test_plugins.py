"""What a run is put together from by name."""

import asyncio

import pytest

from claw_envs.chat.env import ChatEnv
from claw_envs.core.endpoints import KEY_VARIABLE
from claw_envs.core.episode import Observation, Turn
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task, VerifierSpec
from judges.rules import RulesJudge
from trainers.config import Config, JudgeConfig
from trainers.plugins import EndpointJudge, close_judge, make_env, make_judge

from ..judges.chat_server import Body, ChatServer

TASK = Task(id="t", family="chat", instruction="Two plus three?", verifier=VerifierSpec(kind="simulator"))
JUDGED = Turn(
    episode_id="e",
    step=0,
    messages=[{"role": "user", "content": TASK.instruction}],
    response="Five.",
    observation=Observation(role="user", text="Thanks!"),
)


def test_the_environment_is_the_family_s_with_the_run_s_settings() -> None:
    env = make_env(Config(family="chat", env={"tasks": "teacher:dev", "max_steps": 2}))
    assert isinstance(env, ChatEnv)
    env.reset(seed=0)
    assert env.task.limits.max_steps == 2
    assert env.task.metadata["persona"] == "teacher"


def test_a_setting_that_the_environment_does_not_take_is_named() -> None:
    with pytest.raises(UserError, match=r"\[env\]: the chat environment takes no max_step; it takes"):
        make_env(Config(family="chat", env={"max_step": 2}))


def test_the_rules_judge_has_nothing_to_close() -> None:
    judge = make_judge(JudgeConfig())
    assert isinstance(judge, RulesJudge)
    asyncio.run(close_judge(judge))


def test_a_judge_behind_an_endpoint_gives_score_and_hint_and_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "secret")

    def answer(body: Body) -> str:
        return "Good.\n\\boxed{1}\n[HINT_START]Keep the sum in the sentence.[HINT_END]"

    async def run() -> None:
        async with ChatServer(answer) as server:
            judge = make_judge(JudgeConfig(kind="prm", base_url=server.url, model="judge", votes=2))
            verdict = await judge.judge(JUDGED, [], TASK)
            assert len(server.requests) == 3  # two votes and a hint
            assert {request["model"] for request in server.requests} == {"judge"}
            assert set(server.authorizations) == {"Bearer secret"}
            assert len(verdict.votes) == 2
            assert isinstance(judge, EndpointJudge)
            session = judge._client._open
            assert session is not None
            await close_judge(judge)
            await close_judge(judge)
            assert session.closed

    asyncio.run(run())


def test_a_judge_without_an_endpoint_is_a_users_mistake() -> None:
    with pytest.raises(UserError, match="base_url"):
        make_judge(JudgeConfig(kind="prm"))
