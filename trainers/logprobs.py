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
    logits = base.get_output_embeddings()(hidden[row_index, column - 1]).float() / temperature
    table = torch.log_softmax(logits, dim=-1)
    with torch.no_grad():
        entropy = -(table.exp() * table).sum(-1)
    return Scored(table.gather(1, ids[row_index, column].unsqueeze(1)).squeeze(1), entropy)
