"""Log-probabilities of given tokens under a causal language model, for training and for scoring.

Rows are padded on the right and no attention mask is passed: under causal attention no real token can see a pad.
The output head, a fifth of a small model's work, is applied to the wanted positions only.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Scored(NamedTuple):
    """All wanted tokens of all rows, in order, as flat tensors of shape (tokens,)."""

    logprobs: Tensor
    entropy: Tensor
    """Of the distribution at each position, in nats, without gradient."""


def token_logprobs(
    model: Any, rows: Sequence[Sequence[int]], positions: Sequence[Sequence[int]], *, temperature: float = 1.0
) -> Scored:
    """
    Args:
        model: a transformers causal LM, plain or wrapped by PEFT.
        rows: token ids.
        positions: for each row, the indices (at least 1) of the tokens to score.
        temperature: of the distribution that the tokens were sampled from.
    """
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    width = max(map(len, rows))
    device = next(model.parameters()).device
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
    hidden = base.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state
    row_index = torch.tensor([i for i, wanted in enumerate(positions) for _ in wanted], device=device)
    column = torch.tensor([position for wanted in positions for position in wanted], device=device)
    logits = base.get_output_embeddings()(hidden[row_index, column - 1]).float()
    if temperature != 1.0:
        logits = logits / temperature
    normaliser = torch.logsumexp(logits, dim=-1)
    chosen = logits.gather(1, ids[row_index, column].unsqueeze(1)).squeeze(1)
    return Scored(chosen - normaliser, _entropy(logits.detach(), normaliser.detach()))


def _entropy(logits: Tensor, normaliser: Tensor) -> Tensor:
    """H = log Z - E[logit], a few rows at a time: a copy of the whole table would double the peak memory."""
    with torch.no_grad():
        expected = [(part.softmax(-1) * part).sum(-1) for part in torch.split(logits, 32)]
    return normaliser - torch.cat(expected)
