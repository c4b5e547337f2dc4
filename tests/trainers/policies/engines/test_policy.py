"""The served policy: what an episode, an evaluation and the trainer ask of it, against the stand-in and SGLang."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.chat.env import ChatEnv
from claw_envs.core.episode import Status
from claw_envs.core.errors import ContextFull, UserError
from claw_envs.core.llm import ChatClient
from evals.models import open_policy as open_for_evaluation
from tests.trainers.policies.engines.servers import stand_in
from trainers.policies import Sampling, make_policy
from trainers.policies.embedded import EmbeddedPolicy
from trainers.policies.engines import ServedPolicy, open_engine
from trainers.rollout import run_episode

ASKED = [{"role": "user", "content": "2 + 3?"}]


def _with_policy(server: str, model: Path, ask: Callable[[ServedPolicy], Awaitable[Any]], **options: Any) -> Any:
    async def run() -> Any:
        policy = ServedPolicy.load(open_engine(f"sglang+{server}"), str(model), **options)
        try:
            await policy.engine.update_from_disk(str(model), 0)
            return await asyncio.wait_for(ask(policy), 240)
        finally:
            await policy.aclose()

    return asyncio.run(run())


def test_it_says_what_the_embedded_model_says(server: str, tiny_model: Path) -> None:
    greedy = Sampling(max_new_tokens=8, temperature=0.0)

    async def embedded() -> Any:
        policy = EmbeddedPolicy.load(str(tiny_model))
        try:
            return await policy.generate(ASKED, greedy)
        finally:
            await policy.aclose()

    expected = asyncio.run(embedded())
    served = _with_policy(server, tiny_model, lambda policy: policy.generate(ASKED, greedy))
    assert served._replace(logprobs=[]) == expected._replace(logprobs=[])
    assert served.logprobs == pytest.approx(expected.logprobs, abs=1e-3)


def test_an_episode_is_token_exact(server: str, tiny_model: Path) -> None:
    async def ask(policy: ServedPolicy) -> Any:
        env = ChatEnv(mix={"correction": 1.0, "vague": 0.0, "reask": 0.0})
        sampling = Sampling(max_new_tokens=6, seed=1)
        return await run_episode(env, policy, sampling=sampling, task="student-wp-002", seed=7, episode_id="e")

    episode = _with_policy(server, tiny_model, ask)
    assert episode.status is Status.TRUNCATED, episode.error
    assert len(episode.turns) > 1
    for before, after in zip(episode.turns, episode.turns[1:], strict=False):
        sampled = [*before.prompt_ids, *before.response_ids]
        assert after.prompt_ids[: len(sampled)] == sampled
        assert len(after.logprobs) == len(after.versions) == len(after.response_ids) > 0


def test_scores_and_new_weights(server: str, tiny_model: Path, other_model: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    state = load_file(other_model / "model.safetensors")

    async def ask(policy: ServedPolicy) -> list[Any]:
        (before,) = await policy.score_batch([(ASKED, [9, 10])])
        await policy.update_weights(state, 3)
        return [before, await policy.score(ASKED, [9, 10]), policy.version]

    before, through_memory, version = _with_policy(server, tiny_model, ask)
    assert version == 3
    assert through_memory != pytest.approx(before, abs=1e-2)
    _, through_files, version = _with_policy(server, tiny_model, ask, publish=tmp_path / "weights")
    assert version == 3
    assert through_files == pytest.approx(through_memory, abs=1e-3)


def test_only_the_newest_weights_stay_on_disk(tiny_model: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    state = load_file(tiny_model / "model.safetensors")

    async def ask(policy: ServedPolicy) -> None:
        for version in range(1, 5):
            await policy.update_weights(state, version)
        (tmp_path / "videos").mkdir()
        await policy.update_weights(state, 2)  # a run that was taken up again from there

    with stand_in(tiny_model) as url:
        _with_policy(url, tiny_model, ask, publish=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v000002", "v000004", "videos"]
    assert (tmp_path / "v000004" / "config.json").is_file()


def test_what_would_bring_a_server_down_is_refused_here(server: str, tiny_model: Path) -> None:
    async def ask(policy: ServedPolicy) -> None:
        with pytest.raises(UserError, match=r"token ids must lie in 0\.\.49151"):
            await policy.generate([5, 60_000], Sampling())
        with pytest.raises(UserError, match="token ids must lie"):
            await policy.score(ASKED, [-1])
        with pytest.raises(UserError, match="the prompt is empty"):
            await policy.generate([], Sampling())
        with pytest.raises(ContextFull):
            await policy.generate([5] * 2048, Sampling())
        cut = await policy.generate([5] * 2040, Sampling(max_new_tokens=64, temperature=0.0))
        assert 0 < len(cut.response_ids) <= 8
        assert cut.finish_reason == "length"

    _with_policy(server, tiny_model, ask)


def test_an_evaluation_opens_it_by_its_address(server: str, tiny_model: Path) -> None:
    async def run() -> Any:
        async with open_for_evaluation(f"sglang+{server}#{tiny_model}", parallel=2) as policy:
            return await policy.generate(ASKED, Sampling(max_new_tokens=3))

    assert len(asyncio.run(run()).response_ids) in (1, 2, 3)


def test_a_policy_without_a_tokenizer_is_the_user_s_mistake() -> None:
    with pytest.raises(UserError, match="name the model's directory for its tokenizer"):
        make_policy("sglang+http://127.0.0.1:1")
    with pytest.raises(UserError, match="not a model"):
        make_policy("vllm+http://127.0.0.1:1#nowhere")


def test_a_judge_reaches_it_by_its_openai_endpoint(sglang_server: str, tiny_model: Path) -> None:
    async def run() -> Any:
        client = ChatClient(f"{sglang_server}/v1", str(tiny_model))
        try:
            return await client.complete(ASKED, temperature=0.0, max_tokens=4)
        finally:
            await client.aclose()

    (reply,) = asyncio.run(run())
    assert reply.text
    assert reply.completion_tokens == 4
