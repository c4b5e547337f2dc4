"""From turns to training sequences: token ids, which of them the policy sampled, and an advantage for each.

Turns whose prompt extends the ids of the turn before share one sequence; where the history was rewritten a new
sequence begins. Nothing is re-tokenised.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.episode import Turn


class Place(NamedTuple):
    """Where a turn's response stands."""

    sequence: int
    """Which of its episode's sequences."""
    start: int
    """Index of its first token there."""


class Sequence(NamedTuple):
    """One row for the learner. The arrays have one entry for each sampled token."""

    ids: list[int]
    positions: NDArray[np.int64]
    """Index into `ids` of each sampled token."""
    logprobs: NDArray[np.float32]
    """As sampled."""
    versions: NDArray[np.int64]
    advantages: NDArray[np.float64]
    """NaN where a token must not train."""


def lay_out(turns: list[Turn]) -> tuple[list[list[int]], list[Place | None]]:
    """The sequences of one episode.

    Args:
        turns: in order.

    Returns:
        The ids of each sequence, and for each turn its place; None for an empty response, which is in no sequence.
    """
    sequences: list[list[int]] = []
    places: list[Place | None] = []
    for turn in turns:
        if not turn.response_ids:
            places.append(None)
            continue
        ids = turn.prompt_ids + turn.response_ids
        if sequences and turn.prompt_ids[: len(sequences[-1])] == sequences[-1]:
            sequences[-1] = ids
        else:
            sequences.append(ids)
        places.append(Place(len(sequences) - 1, len(turn.prompt_ids)))
    return sequences, places


def build(turns: list[Turn], advantages: list[NDArray[np.float64]]) -> list[Sequence]:
    """Sequences of one episode.

    Args:
        turns: in order.
        advantages: for each turn, one value for each response token.

    Raises:
        ValueError: if a turn's arrays disagree in length.
    """
    ids, places = lay_out(turns)
    parts: list[list[tuple[NDArray[np.int64], Turn, NDArray[np.float64]]]] = [[] for _ in ids]
    for turn, place, advantage in zip(turns, places, advantages, strict=True):
        tokens = len(turn.response_ids)
        if not (len(turn.logprobs) == len(turn.versions) == len(advantage) == tokens):
            raise ValueError(f"turn {turn.id}: {tokens} tokens, but log-probs, versions or advantages differ in number")
        if place is not None:
            parts[place.sequence].append((np.arange(tokens) + place.start, turn, advantage))
    return [
        Sequence(
            ids=row,
            positions=np.concatenate([positions for positions, _, _ in members]),
            logprobs=np.concatenate([np.asarray(turn.logprobs, np.float32) for _, turn, _ in members]),
            versions=np.concatenate([np.asarray(turn.versions, np.int64) for _, turn, _ in members]),
            advantages=np.concatenate([np.asarray(advantage, np.float64) for _, _, advantage in members]),
        )
        for row, members in zip(ids, parts, strict=True)
    ]
