"""The LLM judges with a real language model behind a real server.

The model is far too small to judge well; it is asked, sampled by seed, read and accounted for like any other.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from claw_envs.core.episode import Verdict
from claw_envs.core.llm import ChatClient
from judges import CombinedJudge, HintJudge, PRMJudge
from judges.parse import vote

from .chat_server import ChatServer, Cut
from .turns import CHAT, chat_turn

if TYPE_CHECKING:
    from trainers.policies.embedded import EmbeddedPolicy

PROMPT = "End with \\boxed{1} if the user is happy, else with \\boxed{-1}."


def test_a_small_language_model_as_judge(policy: "EmbeddedPolicy") -> None:
    from trainers.policies.base import Sampling

    async def answer(body: dict[str, Any]) -> Any:
        sampling = Sampling(body["max_tokens"], temperature=body["temperature"], seed=body["seed"])
        completion = await policy.generate(body["messages"], sampling)
        return completion.text if completion.finish_reason == "stop" else Cut(completion.text)

    async def judged() -> Verdict:
        async with ChatServer(answer) as server:
            client = ChatClient(server.url, "smollm2", timeout=900)
            judge = CombinedJudge(
                score=PRMJudge(client, votes=2, max_tokens=12, prompt=PROMPT),
                hint=HintJudge(client, max_tokens=12, prompt=PROMPT, seed=1),
            )
            verdict = await judge.judge(chat_turn("Thanks, that's perfect!"), [], CHAT)
            await client.aclose()
            return verdict

    verdict = asyncio.run(judged())
    first, second, third = verdict.raw
    assert first
    assert first != second, "votes are sampled apart"
    assert third == second, "the same request with the same seed has the same answer"
    assert len(verdict.votes) == 2
    assert all(found in (None, vote(text)) for found, text in zip(verdict.votes, (first, second), strict=True))
    assert verdict.cost > 3 * 50
    assert verdict.status in ("ok", "abstained")
