"""Log-probabilities of given tokens in one forward pass over several sequences."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import torch


class ScoreItem(NamedTuple):
    """Ids, the last `scored` of which are to be scored."""

    ids: list[int]
    scored: int
    future: Future[list[float]]


def score_items(model: Any, items: Sequence[ScoreItem]) -> list[list[float]]:
    """Natural-log probabilities, at temperature 1, of the last `scored` ids of every item.

    Only the positions that predict them pass the output layer.
    """
    inputs = [item.ids[:-1] for item in items]  # nothing follows the last token
    wanted = [range(len(ids) - item.scored, len(ids)) for ids, item in zip(inputs, items, strict=True)]
    kept = sorted(set().union(*wanted))
    place = {position: i for i, position in enumerate(kept)}
    # Padding stands to the right, where causal attention never looks: no mask is needed.
    longest = max(map(len, inputs))
    padded = torch.tensor([[*ids, *[0] * (longest - len(ids))] for ids in inputs], device=model.device)
    logits = model(padded, logits_to_keep=torch.tensor(kept, device=model.device), use_cache=False).logits.float()
    results = []
    for row, (item, positions) in enumerate(zip(items, wanted, strict=True)):
        own = logits[row, [place[position] for position in positions]]
        targets = torch.tensor(item.ids[-item.scored :], device=model.device)[:, None]
        results.append((own.gather(-1, targets)[:, 0] - own.logsumexp(dim=-1)).tolist())
    return results
