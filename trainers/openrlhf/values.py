"""Advantages of a batch of records, by the same functions as in the bundled trainer, as pieces of OpenRLHF's rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainers.config import Config
from trainers.learner import Lesson
from trainers.openrlhf.records import Record
from trainers.openrlhf.rows import Owner, turns_of
from trainers.signals import compared, group_values, trainable, turn_value

Floats = NDArray[np.float64]


class Reading(NamedTuple):
    """A response that a teacher reads after a prompt with a hint."""

    ids: list[int]
    """Prompt and response."""
    start: int
    """Index of the response's first token."""
    record: int
    """Whose."""
    sequence: int
    """In which of its sequences the response stands."""


Teacher = Callable[[list[Reading]], list[NDArray[np.float32] | None]]
"""Log-probs of each response, at the temperature that it was sampled at; None for one that could not be read."""


class Values(NamedTuple):
    """What a batch's tokens get."""

    advantages: list[list[Floats]]
    """For each record one array a turn, with a value for each response token; NaN where it must not train."""
    lessons: dict[tuple[int, int], Lesson]
    """By record and turn, where a teacher read the response."""


def values_of(records: list[Record], firsts: list[list[int]], config: Config, teacher: Teacher) -> Values:
    """
    Args:
        records: one batch, groups whole. Where the signal distils, turns have their old log-probs.
        firsts: ids of each record's first sequence.
        config: names the signal.
        teacher: asked once, where the signal distils and there are hints.
    """
    values = [[np.full(len(turn.response_ids), np.nan) for turn in record.episode.turns] for record in records]
    if config.grouped:
        members = [number for number, record in enumerate(records) if compared(record.episode)]
        whole = group_values([records[number].episode for number in members], config)
        for number, arrays in zip(members, whole, strict=True):
            values[number] = arrays
        return Values(values, {})
    lessons = _lessons(records, firsts, teacher)
    for number, record in enumerate(records):
        for index, turn in enumerate(record.episode.turns):
            lesson = lessons.get((number, index))
            scored = config.signal != "opd" and turn.verdict is not None and bool(turn.verdict.score)
            if trainable(turn, config) and (scored or lesson):
                values[number][index] = turn_value(turn, lesson, config)
    return Values(values, lessons)


def lay_on(experience: Any, owners: list[Owner | None], records: list[Record], values: Values) -> None:
    """Set an experience's advantages, and leave what must not train out of its mask, by which OpenRLHF normalises.

    Args:
        experience: OpenRLHF's, of several rows; its `index` points into `owners`.
        owners: of all rows of the batch.
        records: of the batch.
        values: as `values_of` gave them.
    """
    mask = torch.zeros_like(experience.action_mask)
    advantages = torch.zeros(mask.shape)
    for row, index in enumerate(experience.index):
        for start, value in _pieces(owners[index], records, values):
            finite = np.isfinite(value)
            columns = slice(start - 1, start - 1 + len(value))
            advantages[row, columns] = torch.from_numpy(np.where(finite, value, 0.0)).to(advantages.dtype)
            mask[row, columns] = torch.from_numpy(finite).to(mask.dtype)
    experience.action_mask, experience.advantages, experience.returns = mask, advantages, advantages.clone()
    experience.action_log_probs = experience.action_log_probs * mask
    if experience.base_action_log_probs is not None:
        experience.base_action_log_probs = experience.base_action_log_probs * mask


def remember_old(experience: Any, owners: list[Owner | None], records: list[Record]) -> None:
    """Give turns that the engine kept no log-probs of those that the actor computed before the update."""
    for row, index in enumerate(experience.index):
        if (owner := owners[index]) is None:
            continue
        for _, turn, start in turns_of(records[owner.record], owner.sequence):
            if not turn.logprobs:
                turn.logprobs = _columns(experience.action_log_probs[row], start, len(turn.response_ids))


def _pieces(owner: Owner | None, records: list[Record], values: Values) -> list[tuple[int, Floats]]:
    if owner is None:
        return []
    turns = turns_of(records[owner.record], owner.sequence)
    return [(start, values.advantages[owner.record][number]) for number, _, start in turns]


def _columns(row: Tensor, start: int, tokens: int) -> list[float]:
    return [float(value) for value in row[start - 1 : start - 1 + tokens].tolist()]


def _lessons(records: list[Record], firsts: list[list[int]], teacher: Teacher) -> dict[tuple[int, int], Lesson]:
    """By record and turn, where there is a hint."""
    readings = {
        (number, index): Reading(ids, len(ids) - len(turn.response_ids), number, place.sequence)
        for number, record in enumerate(records)
        for index, (turn, place) in enumerate(zip(record.episode.turns, record.places, strict=True))
        if place is not None and (ids := record.hinted_row(index, firsts[number])) is not None
    }
    read = teacher(list(readings.values())) if readings else []
    return {key: Lesson(logprobs) for key, logprobs in zip(readings, read, strict=True) if logprobs is not None}
