"""Draw one token for each row, with its log-probability under the distribution that was drawn from.

A row needs one uniform number a token, from its own generator: whatever else is in the batch, a seeded row meets the
same numbers (the logits themselves may differ in the last bits, as batch shapes change the order of sums).
"""

from collections.abc import Sequence
from typing import Any

from trainers.policies.base import Sampling


def draw(logits: Any, samplings: Sequence[Sampling], uniforms: Sequence[float]) -> tuple[list[int], list[float]]:
    """Sample by inverting the cumulative distribution over the vocabulary.

    Args:
        logits: float tensor of shape (rows, vocabulary).
        samplings: one for each row.
        uniforms: one for each row, in [0, 1).

    Returns:
        Token ids and natural-log probabilities after temperature and top-p. A greedy row is drawn from a distribution
        with all its mass on one token: its log-probability is 0.
    """
    import torch

    logits = logits.float()
    greedy = logits.argmax(dim=-1).tolist()
    rows = [i for i, sampling in enumerate(samplings) if sampling.temperature > 0]
    tokens, logprobs = greedy, [0.0] * len(samplings)
    if not rows:
        return tokens, logprobs
    temperature = torch.tensor([samplings[i].temperature for i in rows], device=logits.device)
    scaled = (logits[rows] / temperature[:, None]).log_softmax(dim=-1)
    for position, i in enumerate(rows):
        if samplings[i].top_p < 1:
            scaled[position] = nucleus(scaled[position], samplings[i].top_p)
    cumulative = scaled.double().exp().cumsum(dim=-1)
    points = torch.tensor([uniforms[i] for i in rows], dtype=torch.float64, device=logits.device)
    found = torch.searchsorted(cumulative, (points * cumulative[:, -1])[:, None], right=True)
    found = found.clamp(max=logits.shape[-1] - 1)
    for i, token, logprob in zip(rows, found[:, 0].tolist(), scaled.gather(-1, found)[:, 0].tolist(), strict=True):
        tokens[i], logprobs[i] = token, logprob
    return tokens, logprobs


def nucleus(logprobs: Any, top_p: float) -> Any:
    """Keep the smallest set of most likely tokens whose probability reaches `top_p`, renormalised.

    Source: Holtzman et al., The Curious Case of Neural Text Degeneration, 2020.

    Args:
        logprobs: normalised, of shape (vocabulary,).
        top_p: in (0, 1).
    """
    import torch

    ordered, order = logprobs.sort(descending=True)
    kept = order[: int((ordered.exp().cumsum(dim=-1) < top_p).sum()) + 1]
    masked = torch.full_like(logprobs, -torch.inf)
    masked[kept] = logprobs[kept]
    return masked.log_softmax(dim=-1)
