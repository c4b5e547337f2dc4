"""Who reads hinted responses: a model group of OpenRLHF's, by its own forward pass, or a serving engine."""

import asyncio
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from claw_envs.core.endpoints import api_key
from claw_envs.core.errors import ContextFull
from claw_envs.core.loop import run_sync
from trainers.openrlhf.values import Reading
from trainers.openrlhf.vision import Pictures

IN_FLIGHT = 32
"""Requests at an engine at once."""


def read_by(maker: Any, group: Any, readings: list[Reading], pictures: Pictures) -> list[NDArray[np.float32] | None]:
    """Log-probs under a model group, at the temperature of the roll-out.

    Args:
        maker: OpenRLHF's experience maker.
        group: its actor or its reference.
        readings: not empty.
        pictures: of the batch that they are from.
    """
    args, size = maker.args, maker.args.rollout.micro_batch_size
    order = sorted(range(len(readings)), key=lambda i: len(readings[i].ids))
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    # every process computes as many batches as the others: sharded weights need all of them
    batches += [batches[0]] * (-len(batches) % shards(group))
    tensors = [_tensors([readings[i] for i in batch], maker.tokenizer.pad_token_id) for batch in batches]
    inputs = [pictures.inputs(reading.ids, reading.record, reading.sequence) for reading in readings]
    seen = {"mm_train_inputs_list": [[inputs[i] for i in batch] for batch in batches]} if any(inputs) else {}
    together = args.train.colocate_all or args.train.colocate_actor_ref
    answers = maker._flatten_results(
        maker._dispatch_forward(
            group,
            together,
            **{name: [each[name] for each in tensors] for name in ("sequences", "action_mask", "attention_mask")},
            **seen,
        ),
        group.duplicate_actors,
    )
    read: list[NDArray[np.float32] | None] = [None] * len(readings)
    for batch, answer in zip(batches, answers, strict=True):
        for i, row in zip(batch, answer, strict=True):
            start, end = readings[i].start - 1, len(readings[i].ids) - 1
            read[i] = row[start:end].float().numpy()
    return read


def shards(group: Any) -> int:
    """How many of a model group's processes have rows of their own."""
    return len(group._actor_handlers) // int(group.duplicate_actors)


def ask_engine(url: str, readings: list[Reading]) -> list[NDArray[np.float32] | None]:
    """Log-probs by a serving engine, at temperature 1; None for what does not fit its context.

    Args:
        url: of the engine, with its kind: `sglang+http://…`, `vllm+http://…`; its key is the one for endpoints.
        readings: not empty.

    Raises:
        UserError: if the URL names no kind of engine.
        InfrastructureError: if the engine cannot be reached.
    """
    return run_sync(_ask(url, readings))


async def _ask(url: str, readings: list[Reading]) -> list[NDArray[np.float32] | None]:
    from trainers.policies.engines import open_engine
    from trainers.policies.engines.tasks import together

    engine = open_engine(url, api_key=api_key())
    places = asyncio.Semaphore(IN_FLIGHT)

    async def read(reading: Reading) -> NDArray[np.float32] | None:
        async with places:
            try:
                return np.array(await engine.score(reading.ids, reading.start), np.float32)
            except ContextFull:
                return None

    try:
        return await together(*map(read, readings))
    finally:
        await engine.aclose()


def _tensors(readings: list[Reading], pad: int) -> dict[str, torch.Tensor]:
    """As OpenRLHF pads a micro-batch: on the right."""
    width = max(len(reading.ids) for reading in readings)
    sequences = torch.full((len(readings), width), pad)
    attention = torch.zeros_like(sequences)
    actions = torch.zeros(len(readings), width - 1, dtype=torch.long)
    for row, reading in enumerate(readings):
        tokens = len(reading.ids)
        sequences[row, :tokens] = torch.tensor(reading.ids)
        attention[row, :tokens] = 1
        actions[row, reading.start - 1 : tokens - 1] = 1
    return {"sequences": sequences, "attention_mask": attention, "action_mask": actions}
