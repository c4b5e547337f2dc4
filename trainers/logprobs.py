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


def token_logits(
    model: Any, rows: Sequence[Sequence[int]], positions: Sequence[Sequence[int]], *, temperature: float = 1.0
) -> tuple[Tensor, Tensor]:
    """
    Args:
        model: a transformers causal LM, plain or wrapped by PEFT.
        rows: token ids.
        positions: for each row, the indices (at least 1) of the wanted tokens.
        temperature: of the distribution that the tokens were sampled from.

    Returns:
        Logits of shape (tokens, vocabulary) that predict the wanted tokens, and their ids, of shape (tokens,).
    """
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    width = max(map(len, rows))
    device = next(model.parameters()).device
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
    hidden = base.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state
    row_index = torch.tensor([i for i, wanted in enumerate(positions) for _ in wanted], device=device)
    column = torch.tensor([position for wanted in positions for position in wanted], device=device)
    logits = base.get_output_embeddings()(hidden[row_index, column - 1]).float()
    return logits if temperature == 1.0 else logits / temperature, ids[row_index, column]


def token_logprobs(
    model: Any, rows: Sequence[Sequence[int]], positions: Sequence[Sequence[int]], *, temperature: float = 1.0
) -> Scored:
    """Log-probs of the wanted tokens; arguments as for `token_logits`."""
    logits, ids = token_logits(model, rows, positions, temperature=temperature)
    normaliser = torch.logsumexp(logits, dim=-1)
    chosen = logits.gather(1, ids.unsqueeze(1)).squeeze(1)
    return Scored(chosen - normaliser, _entropy(logits.detach(), normaliser.detach()))


def divergence(student: Tensor, teacher: Tensor) -> Tensor:
    """KL(student || teacher) at each position, in nats, from logits of shape (tokens, vocabulary)."""
    parts = zip(torch.split(student, 32), torch.split(teacher, 32), strict=True)
    logs = ((s.log_softmax(-1), t.log_softmax(-1)) for s, t in parts)
    return torch.cat([(s.exp() * (s - t)).sum(-1) for s, t in logs])


def _entropy(logits: Tensor, normaliser: Tensor) -> Tensor:
    """H = log Z - E[logit], a few rows at a time: a copy of the whole table would double the peak memory."""
    with torch.no_grad():
        expected = [(part.softmax(-1) * part).sum(-1) for part in torch.split(logits, 32)]
    return normaliser - torch.cat(expected)
