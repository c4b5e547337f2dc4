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

_FIGURES = ("rewards", "scores", "response_length", "truncated", "total_length")
"""Fields that OpenRLHF takes means of over rows."""

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
    means = _Means([sample for sample, is_whole in zip(samples, whole, strict=True) if is_whole])
    rows = [
        means.fill(sample) if is_whole else means.put_on(sample)
        for sample, is_whole in zip(samples, whole, strict=True)
    ]
    owners: list[Owner | None] = [Owner(number, 0) for number in range(len(samples))]
    for number, (sample, record) in enumerate(zip(samples, records, strict=True)):
        for sequence, ids in enumerate(record.sequences, 1):
            rows.append(replace(means.put_on(sample), **row_tensors(sample, ids, record, sequence)))
            owners.append(Owner(number, sequence))
    blanks = -len(rows) % multiple
    rows += [replace(means.put_on(samples[0]), **row_tensors(samples[0], BLANK, NOTHING, 0)) for _ in range(blanks)]
    return Rows(rows, owners + [None] * blanks)


def turns_of(record: Record, sequence: int) -> Iterator[tuple[int, Turn, int]]:
    """Number, turn and start of each response in one of an episode's sequences."""
    for number, (turn, place) in enumerate(zip(record.episode.turns, record.places, strict=True)):
        if place is not None and place.sequence == sequence:
            yield number, turn, place.start


def row_tensors(sample: Any, ids: list[int], record: Record, sequence: int) -> dict[str, Any]:
    """What OpenRLHF's sample generator makes of a response's tokens; column c of the masks is token c + 1.

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
        "mm_train_inputs": [None],
    }


class _Means:
    """Of what OpenRLHF takes means of over rows: with them, a row that is no whole episode moves none."""

    def __init__(self, samples: list[Any]) -> None:
        self._fields = {name: _mean([getattr(sample, name) for sample in samples]) for name in _FIGURES}
        clipped = _mean([sample.info["response_clip_ratio"] for sample in samples])
        self._scored = {"reward": self._fields["rewards"], "score": self._fields["scores"]}
        self._info = self._scored | {"response_clip_ratio": clipped}

    def fill(self, sample: Any) -> Any:
        """`sample` with the means where it has no reward or score."""
        missing = {name: self._fields[name] for name in ("rewards", "scores") if getattr(sample, name) is None}
        return replace(sample, info=self._scored | sample.info, **missing)

    def put_on(self, sample: Any) -> Any:
        """`sample` with nothing but the means."""
        return replace(sample, info=sample.info | self._info, **self._fields)


def _mean(values: list[Tensor | None]) -> Tensor:
    known = [value.float() for value in values if value is not None]
    return torch.cat(known).mean().reshape(1) if known else torch.zeros(1)
