"""From turns to training sequences: token ids, which of them the policy sampled, and an advantage for each.

Turns whose prompt extends the ids of the turn before share one sequence; where the history was rewritten a new
sequence begins. Nothing is re-tokenised.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.episode import Turn


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


def build(turns: list[Turn], advantages: list[NDArray[np.float64]]) -> list[Sequence]:
    """Sequences of one episode.

    Args:
        turns: in order.
        advantages: for each turn, one value for each response token.

    Raises:
        ValueError: if a turn's arrays disagree in length.
    """
    sequences: list[Sequence] = []
    for turn, advantage in zip(turns, advantages, strict=True):
        tokens = len(turn.response_ids)
        if not (len(turn.logprobs) == len(turn.versions) == len(advantage) == tokens):
            raise ValueError(f"turn {turn.id}: {tokens} tokens, but log-probs, versions or advantages differ in number")
        if tokens == 0:
            continue
        single = Sequence(
            ids=turn.prompt_ids + turn.response_ids,
            positions=np.arange(tokens) + len(turn.prompt_ids),
            logprobs=np.asarray(turn.logprobs, np.float32),
            versions=np.asarray(turn.versions, np.int64),
            advantages=np.asarray(advantage, np.float64),
        )
        before = sequences[-1] if sequences else None
        if before is not None and turn.prompt_ids[: len(before.ids)] == before.ids:
            sequences[-1] = Sequence(
                single.ids, *(np.concatenate([a, b]) for a, b in zip(before[1:], single[1:], strict=True))
            )
        else:
            sequences.append(single)
    return sequences
