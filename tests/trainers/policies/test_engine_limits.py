"""What the embedded engine refuses, and that nothing hangs when it ends. On a tiny model with random weights."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from claw_envs.core.errors import ContextFull, InfrastructureError, UserError
from trainers.policies.base import Sampling
from trainers.policies.embedded import EmbeddedPolicy

Make = Callable[..., EmbeddedPolicy]


@pytest.fixture
def make(policy: EmbeddedPolicy) -> Iterator[Make]:
    from transformers import LlamaConfig, LlamaForCausalLM

    made: list[EmbeddedPolicy] = []

    def build(**options: Any) -> EmbeddedPolicy:
        sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
        heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512}
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=len(policy.tokenizer), eos_token_id=2, tie_word_embeddings=True, **sizes, **heads
        )
        made.append(EmbeddedPolicy(LlamaForCausalLM(config), tokenizer=policy.tokenizer, **options))
        return made[-1]

    yield build
    for each in made:
        asyncio.run(each.aclose())


def test_more_requests_than_rows_all_get_served(make: Make) -> None:
    tiny = make(max_batch=3)
    sampling = Sampling(5, temperature=0)

    async def run() -> None:
        prompts = [list(range(10, 20 + 3 * i)) for i in range(10)]
        together = await asyncio.gather(*(tiny.generate(prompt, sampling) for prompt in prompts))
        for prompt, completion in zip(prompts, together, strict=True):
            assert completion.prompt_ids == prompt
            assert completion.response_ids == (await tiny.generate(prompt, sampling)).response_ids

    asyncio.run(run())


def test_the_context_bounds_prompt_and_response(make: Make) -> None:
    tiny = make(context=300)
    assert make(context=10_000).context == 512

    async def run() -> None:
        cut = await tiny.generate([5] * 290, Sampling(100, seed=0))
        assert len(cut.response_ids) == 10
        assert cut.finish_reason == "length"
        last = await tiny.generate([5] * 299, Sampling(100, temperature=0))
        assert len(last.response_ids) == 1
        with pytest.raises(ContextFull, match="300"):
            await tiny.generate([5] * 300, Sampling(1))
        with pytest.raises(ContextFull, match="300"):
            await tiny.score([5] * 200, [5] * 101)
        assert len(await tiny.score([5] * 200, [5] * 100)) == 100

    asyncio.run(run())


@pytest.mark.parametrize(
    ("prompt", "sampling"),
    [
        ([], Sampling()),
        ([-1], Sampling()),
        ([10**6], Sampling()),
        ([5], Sampling(max_new_tokens=0)),
        ([5], Sampling(temperature=-0.1)),
        ([5], Sampling(top_p=0.0)),
    ],
)
def test_nonsense_is_refused_and_harms_nobody(make: Make, prompt: list[int], sampling: Sampling) -> None:
    tiny = make()
    with pytest.raises(UserError):
        asyncio.run(tiny.generate(prompt, sampling))
    assert asyncio.run(tiny.generate([5], Sampling(1))).response_ids


def test_unfit_weights_are_refused_whole(make: Make) -> None:
    tiny = make()
    before = asyncio.run(tiny.score([5], [6, 7]))
    good = torch.zeros(32)
    for bad in ({"model.norm.weight": torch.zeros(33)}, {"no.such.weight": good}):
        with pytest.raises(ValueError, match="weight"):
            asyncio.run(tiny.update_weights({"model.layers.0.input_layernorm.weight": good, **bad}, 1))
    assert tiny.version == 0
    assert asyncio.run(tiny.score([5], [6, 7])) == before


def test_a_dead_worker_fails_every_call(make: Make) -> None:
    tiny = make()
    model = tiny._engine._model

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("out of memory")

    async def run() -> None:
        model.forward = broken
        pending = [
            tiny.generate([5, 6], Sampling()),
            tiny.generate([7], Sampling()),
            tiny.score([5], [6]),
            tiny.update_weights({}, 1),
        ]
        with tiny.gate.learn():  # all of them are queued before the worker meets the first
            tasks = [asyncio.create_task(call) for call in pending]
            await asyncio.sleep(0)
        results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), timeout=60)
        *failed, update = results
        assert update is None
        for error in failed:
            assert isinstance(error, InfrastructureError)
            assert "out of memory" in str(error)
            assert isinstance(error.__cause__, RuntimeError)
        with pytest.raises(InfrastructureError, match="out of memory"):
            await tiny.generate([5], Sampling())

    asyncio.run(run())


def test_closing_fails_what_is_pending(make: Make) -> None:
    tiny = make()

    async def run() -> None:
        with tiny.gate.learn():
            task = asyncio.create_task(tiny.generate([5], Sampling(100)))
            await asyncio.sleep(0)
            closing = asyncio.create_task(tiny.aclose())
            await asyncio.sleep(0)
        with pytest.raises(InfrastructureError, match="closed"):
            await task
        await closing
        await tiny.aclose()
        with pytest.raises(InfrastructureError, match="closed"):
            await tiny.score([5], [6])

    asyncio.run(run())
