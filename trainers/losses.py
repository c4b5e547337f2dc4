"""The policy loss: clipped PPO with a KL term, over any set of tokens. Torch in, one scalar and its figures out.

Tokens that must not train (prompt, observation, dropped buckets) carry a NaN advantage or a False mask. Both are
removed before any arithmetic, because NaN times zero is NaN in the backward pass.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

Aggregation = Literal["token", "sequence"]


class LossFigures(NamedTuple):
    """Detached figures of one loss, each a mean over the trained tokens."""

    policy: float
    kl: float
    """NaN without a reference."""
    clip_fraction: float
    tokens: int


def k3(logprobs: Tensor, reference: Tensor) -> Tensor:
    """Schulman's k3 estimator of KL(pi || ref): exp(d) - d - 1 with d = log ref - log pi. Never negative.

    Args:
        logprobs: of the sampled tokens under the policy, any shape.
        reference: under the reference, the same shape.
    """
    difference = (reference - logprobs).clamp(-20.0, 20.0)
    return difference.exp() - difference - 1.0


def ppo(
    logprobs: Tensor,
    old: Tensor,
    advantages: Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.28,
    dual_clip: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Clipped surrogate: -min(ratio A, clip(ratio, 1 - low, 1 + high) A).

    Source: Schulman et al. 2017, eq. 7; the wider upper bound is DAPO's "clip-higher"; `dual_clip` c bounds the loss
    of a negative advantage at -c A (Ye et al. 2020).

    Args:
        logprobs: under the policy being trained, shape (tokens,).
        old: under the policy that the ratio is taken against, shape (tokens,).
        advantages: shape (tokens,).

    Returns:
        Loss and whether the clip was active, each of shape (tokens,).
    """
    ratio = (logprobs - old).clamp(-20.0, 20.0).exp()
    plain = -ratio * advantages
    clipped = -ratio.clamp(1.0 - clip_low, 1.0 + clip_high) * advantages
    loss = torch.maximum(plain, clipped)
    if dual_clip is not None:
        loss = torch.where(advantages < 0, torch.minimum(loss, -dual_clip * advantages), loss)
    return loss, clipped > plain


def importance_weight(proximal: Tensor, behaviour: Tensor, *, cap: float) -> Tensor:
    """Truncated importance weight of stale tokens: min(pi_proximal / pi_behaviour, cap), without gradient."""
    return (proximal - behaviour).detach().clamp(-20.0, 20.0).exp().clamp(max=cap)


def policy_loss(
    logprobs: Tensor,
    old: Tensor,
    advantages: Tensor,
    sequence: Tensor,
    *,
    reference: Tensor | None = None,
    kl_coef: float = 0.0,
    weight: Tensor | None = None,
    clip_low: float = 0.2,
    clip_high: float = 0.28,
    dual_clip: float | None = None,
    aggregation: Aggregation = "token",
    denominator: int | None = None,
) -> tuple[Tensor, LossFigures]:
    """PPO plus k3 KL over the tokens whose advantage is finite.

    Args:
        logprobs: shape (tokens,), with gradient.
        old: shape (tokens,).
        advantages: shape (tokens,); NaN is left out.
        sequence: index of each token's sequence, shape (tokens,).
        reference: log-probs under the reference, shape (tokens,).
        weight: factor on each token's policy loss (importance correction), shape (tokens,).
        aggregation: `token` (mean over tokens) or `sequence` (mean over sequences of their token means).
        denominator: number of tokens, or of sequences, of the whole batch, where this is one micro-batch of it.

    Returns:
        The scalar loss (0, with a gradient of 0, where no token trains) and its figures.
    """
    keep = torch.isfinite(advantages)
    logprobs, old, advantages, sequence = logprobs[keep], old[keep], advantages[keep], sequence[keep]
    if not len(logprobs):
        return logprobs.sum(), LossFigures(0.0, 0.0, 0.0, 0)
    loss, clipped = ppo(logprobs, old, advantages, clip_low=clip_low, clip_high=clip_high, dual_clip=dual_clip)
    if weight is not None:
        loss = loss * weight[keep]
    kl = k3(logprobs, reference[keep]) if reference is not None else None
    per_token = loss if kl is None else loss + kl_coef * kl
    if aggregation == "token":
        total = per_token.sum() / (denominator or len(per_token))
    else:
        _, position, counts = torch.unique(sequence, return_inverse=True, return_counts=True)
        total = (per_token / counts[position]).sum() / (denominator or len(counts))
    figures = LossFigures(
        loss.mean().item(),
        float("nan") if kl is None else kl.mean().item(),
        clipped.to(torch.float32).mean().item(),
        len(per_token),
    )
    return total, figures
