"""The embedded policy on the real default model: exact against plain transformers, alone and in company."""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import torch

from trainers.policies.base import Completion, Sampling
from trainers.policies.embedded import EmbeddedPolicy

if TYPE_CHECKING:
    from tests.conftest import HaltingGate

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


def _own_logprobs(model: Any, completion: Completion) -> list[float]:
    """What the model itself gives the response's tokens at temperature 1."""
    with torch.inference_mode():
        logits = model(torch.tensor([completion.prompt_ids + completion.response_ids])).logits[0]
    ahead = logits[len(completion.prompt_ids) - 1 : -1].log_softmax(-1)
    own: list[float] = ahead.gather(-1, torch.tensor(completion.response_ids)[:, None])[:, 0].tolist()
    return own


def test_greedy_equals_transformers_generate(policy: EmbeddedPolicy, plain_model: Any) -> None:
    tokenizer = policy.tokenizer

    async def run() -> list[Completion]:
        sampling = Sampling(max_new_tokens=20, temperature=0)
        return await asyncio.gather(*(policy.generate(_asked(question), sampling) for question in QUESTIONS))

    for question, completion in zip(QUESTIONS, asyncio.run(run()), strict=True):
        prompt = tokenizer.apply_chat_template(_asked(question), add_generation_prompt=True, return_tensors="pt")
        expected = plain_model.generate(**prompt, max_new_tokens=20, do_sample=False)[0]
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


def test_logprobs_equal_scores_and_the_models_own(policy: EmbeddedPolicy, plain_model: Any) -> None:
    async def run() -> tuple[list[Completion], list[list[float]]]:
        sampled = await asyncio.gather(*(policy.generate(_asked(q), Sampling(16, seed=7)) for q in QUESTIONS))
        return sampled, await policy.score_batch([(each.prompt_ids, each.response_ids) for each in sampled])

    for completion, scores in zip(*asyncio.run(run()), strict=True):
        assert completion.logprobs == pytest.approx(scores, abs=1e-4)
        assert scores == pytest.approx(_own_logprobs(plain_model, completion), abs=1e-4)


def test_score_takes_messages_and_empty_responses(policy: EmbeddedPolicy) -> None:
    async def run() -> tuple[list[float], list[float], list[float]]:
        ids = policy.renderer.prompt_ids(STORY)
        answer = policy.tokenizer.encode("Once upon a time")
        return await policy.score(STORY, answer), await policy.score(ids, answer), await policy.score(ids, [])

    by_messages, by_ids, empty = asyncio.run(run())
    assert by_messages == pytest.approx(by_ids, abs=1e-5)
    assert empty == []


def test_joining_midway_changes_nobody(policy: EmbeddedPolicy, policy_gate: "HaltingGate") -> None:
    long, short = Sampling(16, seed=1), Sampling(6, seed=2)

    async def run() -> list[Completion]:
        policy_gate.halt(after=6)
        running = asyncio.create_task(policy.generate(STORY, long))
        await asyncio.to_thread(policy_gate.halted.wait, 120)
        joining = asyncio.create_task(policy.generate(_asked(QUESTIONS[0]), short))
        await asyncio.sleep(0)
        policy_gate.resume.set()
        joined = [await running, await joining]
        return [*joined, await policy.generate(STORY, long), await policy.generate(_asked(QUESTIONS[0]), short)]

    long_joined, short_joined, long_alone, short_alone = asyncio.run(run())
    _assert_same(long_joined, long_alone)
    _assert_same(short_joined, short_alone)


def test_weights_change_between_tokens(policy: EmbeddedPolicy, policy_gate: "HaltingGate", plain_model: Any) -> None:
    name = "model.norm.weight"  # after the last layer: cached keys and values are the same under both weights
    old = plain_model.state_dict()[name]

    async def run() -> tuple[Completion, list[float], list[float]]:
        policy_gate.halt(after=6)
        story = asyncio.create_task(policy.generate(STORY, Sampling(16, seed=3)))
        await asyncio.to_thread(policy_gate.halted.wait, 120)
        updated = asyncio.create_task(policy.update_weights({name: old * 1.5}, 1))
        await asyncio.sleep(0)
        policy_gate.resume.set()
        await updated
        completion = await story
        assert policy.version == 1
        after = await policy.score(completion.prompt_ids, completion.response_ids)
        await policy.update_weights({name: old}, 0)
        return completion, await policy.score(completion.prompt_ids, completion.response_ids), after

    completion, before, after = asyncio.run(run())
    assert completion.versions == [0] * 7 + [1] * 9  # the prompt gave the first token, every step one more
    assert completion.logprobs[:7] == pytest.approx(before[:7], abs=1e-4)
    assert completion.logprobs[7:] == pytest.approx(after[7:], abs=1e-4)
    assert before != pytest.approx(after, abs=1e-2)


def test_every_weight_arrives(policy: EmbeddedPolicy, plain_model: Any) -> None:
    old = {name: tensor.clone() for name, tensor in plain_model.state_dict().items()}
    generator = torch.Generator().manual_seed(0)
    new = {name: tensor * (1 + 0.1 * torch.rand(tensor.shape, generator=generator)) for name, tensor in old.items()}
    new["lm_head.weight"] = new["model.embed_tokens.weight"]  # one tensor under two names

    async def run() -> tuple[Completion, list[float]]:
        before = await policy.generate(STORY, Sampling(4, seed=0))
        await policy.update_weights(new, 1)
        completion = await policy.generate(STORY, Sampling(8, seed=0))
        await policy.update_weights(old, 0)
        assert before == await policy.generate(STORY, Sampling(4, seed=0))
        return completion, await policy.score(completion.prompt_ids, completion.response_ids)

    completion, restored = asyncio.run(run())
    try:
        plain_model.load_state_dict(new)
        expected = _own_logprobs(plain_model, completion)
    finally:
        plain_model.load_state_dict(old)
    assert completion.logprobs == pytest.approx(expected, abs=1e-4)
    assert restored == pytest.approx(_own_logprobs(plain_model, completion), abs=1e-4)
    assert restored != pytest.approx(expected, abs=1e-2)


def test_cancelled_request_leaves_the_batch(policy: EmbeddedPolicy, policy_gate: "HaltingGate") -> None:
    request = _asked(QUESTIONS[0]), Sampling(12, seed=5)

    async def run() -> tuple[Completion, Completion]:
        policy_gate.halt(after=6)
        long = asyncio.create_task(policy.generate(STORY, Sampling(1000, seed=4)))
        other = asyncio.create_task(policy.generate(*request))
        await asyncio.to_thread(policy_gate.halted.wait, 120)
        long.cancel()
        await asyncio.gather(long, return_exceptions=True)
        assert long.cancelled()
        policy_gate.resume.set()
        return await other, await policy.generate(*request)

    _assert_same(*asyncio.run(run()))
    assert policy_gate.steps < 100


def test_later_turns_reuse_what_earlier_ones_computed(policy: EmbeddedPolicy, plain_model: Any) -> None:
    async def run() -> list[Completion]:
        turns = [await policy.generate(STORY, Sampling(10, seed=6))]
        messages = list(STORY)
        for seed in (7, 8):
            last = turns[-1]
            new = [{"role": "user", "content": "Shorter, please."}]
            ids = policy.renderer.extend(
                last.prompt_ids + last.response_ids,
                finish_reason=last.finish_reason,
                messages_before=messages,
                response=last.text,
                new_messages=new,
            )
            assert ids is not None
            messages = [*messages, {"role": "assistant", "content": last.text}, *new]
            turns.append(await policy.generate(ids, Sampling(10, seed=seed)))
        return turns

    for completion in asyncio.run(run()):
        assert completion.logprobs == pytest.approx(_own_logprobs(plain_model, completion), abs=1e-4)
