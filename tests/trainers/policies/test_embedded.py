"""The embedded policy on the real default model: exact against plain transformers, alone and in company."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from trainers.policies.base import Completion, Sampling
from trainers.policies.embedded import EmbeddedPolicy
from trainers.policies.gate import ComputeGate

QUESTIONS = [
    "Tom has 3 apples and buys 4 more. How many apples does he have?",
    "Name a colour.",
    "Write a long story about a lighthouse keeper and the sea.",
    "What is the capital of France? Answer in one word.",
    "Why is the sky blue? Explain it to a child, with an example that a child of six would enjoy.",
]
STORY = [{"role": "user", "content": QUESTIONS[2]}]


def _asked(question: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": question}]


def _assert_same(ours: Completion, theirs: Completion) -> None:
    assert ours.response_ids == theirs.response_ids
    assert ours.logprobs == pytest.approx(theirs.logprobs, abs=1e-4)


class Breakpoint(ComputeGate):
    """Stops decoding once, after `stop_after` steps, until `resume` is set; counts steps."""

    def __init__(self, *, stop_after: int) -> None:
        super().__init__()
        self.stop_after, self.steps = stop_after, 0
        self.stopped, self.resume = threading.Event(), threading.Event()

    @contextmanager
    def decode(self) -> Iterator[Callable[[], None]]:
        with super().decode() as pause:

            def step() -> None:
                self.steps += 1
                if self.steps == self.stop_after:
                    self.stopped.set()
                    assert self.resume.wait(timeout=60)
                pause()

            yield step


@pytest.fixture
def halting(
    model_and_tokenizer: tuple[Any, Any], policy: EmbeddedPolicy
) -> Iterator[tuple[EmbeddedPolicy, Breakpoint]]:
    """Another policy on the model of `policy`, which stops after its sixth step."""
    model, tokenizer = model_and_tokenizer
    gate = Breakpoint(stop_after=6)
    second = EmbeddedPolicy(model, tokenizer=tokenizer, gate=gate)
    yield second, gate
    asyncio.run(second.aclose())


def test_greedy_equals_transformers_generate(policy: EmbeddedPolicy, model_and_tokenizer: tuple[Any, Any]) -> None:
    model, tokenizer = model_and_tokenizer

    async def run() -> list[Completion]:
        sampling = Sampling(max_new_tokens=20, temperature=0)
        return await asyncio.gather(*(policy.generate(_asked(question), sampling) for question in QUESTIONS))

    for question, completion in zip(QUESTIONS, asyncio.run(run()), strict=True):
        prompt = tokenizer.apply_chat_template(_asked(question), add_generation_prompt=True, return_tensors="pt")
        expected = model.generate(**prompt, max_new_tokens=20, do_sample=False)[0]
        assert completion.prompt_ids + completion.response_ids == expected.tolist()
        ended = completion.response_ids[-1] == tokenizer.eos_token_id
        assert completion.finish_reason == ("stop" if ended else "length")
        assert completion.text == tokenizer.decode(completion.response_ids, skip_special_tokens=True)
        assert set(completion.logprobs) == {0.0}


def test_rows_do_not_change_each_other(policy: EmbeddedPolicy) -> None:
    requests = [
        (_asked(question), Sampling(12, temperature=temperature, top_p=top_p, seed=seed))
        for seed, question in enumerate(QUESTIONS[:4])
        for temperature, top_p in ((1.0, 1.0), (0.8, 0.9))
    ]

    async def run() -> tuple[list[Completion], list[Completion]]:
        together = await asyncio.gather(*(policy.generate(*request) for request in requests))
        return together, [await policy.generate(*request) for request in requests]

    for batched, alone in zip(*asyncio.run(run()), strict=True):
        _assert_same(batched, alone)


def test_samples_of_one_prompt_differ_by_seed_only(policy: EmbeddedPolicy) -> None:
    async def run() -> list[Completion]:
        return await asyncio.gather(*(policy.generate(STORY, Sampling(12, seed=seed)) for seed in (1, 2, 1, 3)))

    first, second, again, third = asyncio.run(run())
    _assert_same(first, again)
    assert len({tuple(each.response_ids) for each in (first, second, third)}) == 3


def test_logprobs_equal_scores_and_the_models_own(policy: EmbeddedPolicy, model_and_tokenizer: tuple[Any, Any]) -> None:
    async def run() -> tuple[list[Completion], list[list[float]]]:
        sampled = await asyncio.gather(*(policy.generate(_asked(q), Sampling(16, seed=7)) for q in QUESTIONS))
        return sampled, await policy.score_batch([(each.prompt_ids, each.response_ids) for each in sampled])

    model, _ = model_and_tokenizer
    for completion, scores in zip(*asyncio.run(run()), strict=True):
        assert completion.logprobs == pytest.approx(scores, abs=1e-4)
        with torch.inference_mode():
            logits = model(torch.tensor([completion.prompt_ids + completion.response_ids])).logits[0]
        ahead = logits[len(completion.prompt_ids) - 1 : -1].log_softmax(-1)
        own = ahead.gather(-1, torch.tensor(completion.response_ids)[:, None])[:, 0]
        assert scores == pytest.approx(own.tolist(), abs=1e-4)


def test_score_takes_messages_and_empty_responses(policy: EmbeddedPolicy) -> None:
    async def run() -> tuple[list[float], list[float], list[float]]:
        ids = policy.renderer.prompt_ids(STORY)
        answer = policy.tokenizer.encode("Once upon a time")
        return await policy.score(STORY, answer), await policy.score(ids, answer), await policy.score(ids, [])

    by_messages, by_ids, empty = asyncio.run(run())
    assert by_messages == pytest.approx(by_ids, abs=1e-5)
    assert empty == []


def test_joining_midway_changes_nobody(policy: EmbeddedPolicy, halting: tuple[EmbeddedPolicy, Breakpoint]) -> None:
    second, gate = halting
    long, short = Sampling(16, seed=1), Sampling(6, seed=2)

    async def run() -> list[Completion]:
        running = asyncio.create_task(second.generate(STORY, long))
        await asyncio.to_thread(gate.stopped.wait, 60)
        joining = asyncio.create_task(second.generate(_asked(QUESTIONS[0]), short))
        await asyncio.sleep(0)
        gate.resume.set()
        joined = [await running, await joining]
        return [*joined, await policy.generate(STORY, long), await policy.generate(_asked(QUESTIONS[0]), short)]

    long_joined, short_joined, long_alone, short_alone = asyncio.run(run())
    _assert_same(long_joined, long_alone)
    _assert_same(short_joined, short_alone)


def test_weights_change_between_tokens(
    halting: tuple[EmbeddedPolicy, Breakpoint], model_and_tokenizer: tuple[Any, Any]
) -> None:
    policy, gate = halting
    name = "model.norm.weight"  # after the last layer: cached keys and values are the same under both weights
    old = model_and_tokenizer[0].state_dict()[name].clone()

    async def run() -> tuple[Completion, list[float], list[float]]:
        story = asyncio.create_task(policy.generate(STORY, Sampling(16, seed=3)))
        await asyncio.to_thread(gate.stopped.wait, 60)
        updated = asyncio.create_task(policy.update_weights({name: old * 1.5}, 1))
        await asyncio.sleep(0)
        gate.resume.set()
        await updated
        completion = await story
        assert policy.version == 1
        after = await policy.score(completion.prompt_ids, completion.response_ids)
        await policy.update_weights({name: old}, 0)
        return completion, await policy.score(completion.prompt_ids, completion.response_ids), after

    completion, before, after = asyncio.run(run())
    changed = 1 + gate.stop_after  # the prompt gave the first token, every step one more
    assert completion.versions == [0] * changed + [1] * (16 - changed)
    assert completion.logprobs[:changed] == pytest.approx(before[:changed], abs=1e-4)
    assert completion.logprobs[changed:] == pytest.approx(after[changed:], abs=1e-4)
    assert before != pytest.approx(after, abs=1e-2)


def test_cancelled_request_leaves_the_batch(policy: EmbeddedPolicy, halting: tuple[EmbeddedPolicy, Breakpoint]) -> None:
    second, gate = halting
    request = _asked(QUESTIONS[0]), Sampling(12, seed=5)

    async def run() -> tuple[Completion, Completion]:
        long = asyncio.create_task(second.generate(STORY, Sampling(1000, seed=4)))
        other = asyncio.create_task(second.generate(*request))
        await asyncio.to_thread(gate.stopped.wait, 60)
        long.cancel()
        await asyncio.gather(long, return_exceptions=True)
        assert long.cancelled()
        gate.resume.set()
        return await other, await policy.generate(*request)

    _assert_same(*asyncio.run(run()))
    asyncio.run(second.aclose())
    assert gate.steps < 100
