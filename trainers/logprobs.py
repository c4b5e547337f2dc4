"""Log-probabilities of given tokens under a causal language model, for training and for scoring.

Rows that begin alike, as attempts at one task do, go through the model as one: their common beginning once, then what
is each one's own, which sees that beginning and itself. Other rows are padded on the right, without an attention mask:
under causal attention no real token can see a pad. The output head, a fifth of a small model's work, is applied to the
wanted positions only.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

_WORTH = 0.8
"""Packed rows are at most this share of the padded ones."""
_LONGEST = 4096
"""Tokens of a packed row: its mask grows with the square."""


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
    device = next(model.parameters()).device
    shared = _shared(rows)
    hidden = _packed(base, rows, shared, device) if shared else _padded(base, rows, device)
    places, wanted, start = [], [], shared
    for i, (row, columns) in enumerate(zip(rows, positions, strict=True)):
        before = [column - 1 for column in columns]
        offset = start - shared if shared else i * hidden.shape[1]
        places += [column if column < shared else column + offset for column in before]
        wanted += [row[column] for column in columns]
        start += len(row) - shared
    logits = base.get_output_embeddings()(hidden.flatten(0, 1)[torch.tensor(places, device=device)]).float()
    return logits if temperature == 1.0 else logits / temperature, torch.tensor(wanted, device=device)


def _shared(rows: Sequence[Sequence[int]]) -> int:
    """Length of the rows' common beginning; 0 where packing them behind it saves too little to pay for its mask."""
    first, last = min(map(tuple, rows)), max(map(tuple, rows))
    common = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    packed = sum(map(len, rows)) - common * (len(rows) - 1)
    worth = packed <= _WORTH * len(rows) * max(map(len, rows)) and packed <= _LONGEST
    return common if worth else 0


def _padded(base: Any, rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
    hidden: Tensor = base.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state
    return hidden


def _packed(base: Any, rows: Sequence[Sequence[int]], shared: int, device: torch.device) -> Tensor:
    """One row: the common beginning of `shared` tokens, then the rest of each row in order."""
    ends = [row[shared:] for row in rows]
    ids = torch.tensor([*rows[0][:shared], *(token for end in ends for token in end)], device=device)
    columns = torch.cat([torch.arange(shared), *(torch.arange(len(end)) + shared for end in ends)]).to(device)
    owner = torch.repeat_interleave(torch.arange(len(rows) + 1), torch.tensor([shared, *map(len, ends)])).to(device)
    sees = (owner[None, :] == 0) | (owner[None, :] == owner[:, None])
    sees &= columns[None, :] <= columns[:, None]
    dtype = next(base.parameters()).dtype
    mask = torch.zeros(sees.shape, dtype=dtype, device=device).masked_fill(~sees, torch.finfo(dtype).min)
    hidden: Tensor = base.get_decoder()(
        input_ids=ids[None], position_ids=columns[None], attention_mask=mask[None, None], use_cache=False
    ).last_hidden_state
    return hidden


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
