"""Episodes' records as OpenRLHF's rows: one for each further sequence, and blank ones that fill up a batch.

Their images are `vision`'s business.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from claw_envs.core.episode import Episode, Status, Turn
from trainers.openrlhf.records import BLANK, Record

NOTHING = Record(episode=Episode(id="", task_id="", family=""))
"""Of a row that trains nothing."""


class Owner(NamedTuple):
    """Whose sequence a row is."""

    record: int
    sequence: int


class Rows(NamedTuple):
    """One batch."""

    samples: list[Any]
    """OpenRLHF's `Experience`s of one row each: the first sequence of every episode, further ones, blank ones."""
    owners: list[Owner | None]
    """Of each; None for a blank one."""


def make_rows(samples: list[Any], records: list[Record], *, multiple: int) -> Rows:
    """
    Args:
        samples: OpenRLHF's row of each episode; not empty.
        records: of the same episodes.
        multiple: the number of rows is filled up to a multiple of it.
    """
    whole = [record.episode.status is not Status.ABORTED for record in records]
    counted = [sample for sample, is_whole in zip(samples, whole, strict=True) if is_whole]
    rewards, scores = (
        torch.cat([getattr(sample, name) for sample in counted]).mean().reshape(1) if counted else torch.zeros(1)
        for name in ("rewards", "scores")
    )

    def uncounted(sample: Any, **changed: Any) -> Any:
        """With the batch's means, so that the row moves no statistic of them."""
        info = sample.info | {"reward": rewards, "score": scores}
        return replace(sample, rewards=rewards, scores=scores, info=info, **changed)

    rows = [sample if is_whole else uncounted(sample) for sample, is_whole in zip(samples, whole, strict=True)]
    owners: list[Owner | None] = [Owner(number, 0) for number in range(len(samples))]
    for number, (sample, record) in enumerate(zip(samples, records, strict=True)):
        for sequence in range(1, len(record.sequences) + 1):
            rows.append(uncounted(sample, **row_tensors(sample, record.sequences[sequence - 1], record, sequence)))
            owners.append(Owner(number, sequence))
    blanks = -len(rows) % multiple
    rows += [uncounted(samples[0], **row_tensors(samples[0], BLANK, NOTHING, 0)) for _ in range(blanks)]
    return Rows(rows, owners + [None] * blanks)


def turns_of(record: Record, sequence: int) -> Iterator[tuple[int, Turn, int]]:
    """Number, turn and start of each response in one of an episode's sequences."""
    for number, (turn, place) in enumerate(zip(record.episode.turns, record.places, strict=True)):
        if place is not None and place.sequence == sequence:
            yield number, turn, place.start


def row_tensors(sample: Any, ids: list[int], record: Record, sequence: int) -> dict[str, Any]:
    """What OpenRLHF's sample generator makes of a response; column c of the masks is token c + 1.

    Args:
        sample: a row of the same batch.
        ids: of one of the record's sequences.
        record: says which of its tokens were sampled.
        sequence: which.
    """
    mask = torch.zeros(1, len(ids) - 1, dtype=torch.long)
    logprobs = torch.zeros(1, len(ids) - 1)
    for _, turn, start in turns_of(record, sequence):
        columns = slice(start - 1, start - 1 + len(turn.response_ids))
        mask[0, columns] = 1
        if turn.logprobs:
            logprobs[0, columns] = torch.tensor(turn.logprobs)
    sequences = torch.tensor([ids])
    return {
        "sequences": sequences,
        "attention_mask": torch.ones_like(sequences),
        "action_mask": mask,
        "rollout_log_probs": None if sample.rollout_log_probs is None else logprobs,
        "response_length": _span(mask),
        "total_length": torch.tensor([float(len(ids))]),
        "mm_train_inputs": [None],
    }


def _span(mask: Tensor) -> Tensor:
    """From the first sampled token to the last, as OpenRLHF counts a response."""
    places = torch.where(mask[0])[0]
    return torch.tensor([int(places[-1] - places[0]) + 1 if len(places) else 0])
