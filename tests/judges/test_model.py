"""The LLM judges with a real language model behind a real server. It is far too small to judge well; it must be asked,
sampled by seed, read and accounted for like any other."""

import asyncio
from typing import TYPE_CHECKING, Any

from claw_envs.core.episode import Verdict
from claw_envs.core.llm import ChatClient
from judges import CombinedJudge, HintJudge, PRMJudge
from judges.parse import vote
from trainers.policies.base import Sampling

from .chat_server import ChatServer, Cut
from .turns import CHAT, chat_turn

if TYPE_CHECKING:
    from trainers.policies.embedded import EmbeddedPolicy

PROMPT = "End with the line \\boxed{1} if the user is happy, else with the line \\boxed{-1}."


def test_a_small_language_model_as_judge(policy: "EmbeddedPolicy") -> None:
    async def answer(body: dict[str, Any]) -> Any:
        sampling = Sampling(body["max_tokens"], temperature=body["temperature"], seed=body["seed"])
        completion = await policy.generate(body["messages"], sampling)
        return completion.text if completion.finish_reason == "stop" else Cut(completion.text)

    async def verdicts() -> list[Verdict]:
        async with ChatServer(answer) as server:
            client = ChatClient(server.url, "smollm2")
            judge = CombinedJudge(
                score=PRMJudge(client, votes=3, max_tokens=24, prompt=PROMPT),
                hint=HintJudge(client, max_tokens=24),
            )
            found = [await judge.judge(chat_turn("Thanks, that's perfect!"), [], CHAT) for _ in range(2)]
            await client.aclose()
            return found

    first, second = asyncio.run(verdicts())
    print(first)
    assert first == second, "the same seeds give the same votes"
    assert len(first.raw) == 4
    assert len(set(first.raw[:3])) > 1, "votes are sampled apart"
    assert all(found in (None, vote(text)) for found, text in zip(first.votes, first.raw, strict=False))
    assert first.cost > 4 * 50
