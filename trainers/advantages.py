"""Learning signals as pure functions over arrays: rewards and log-probs in, one advantage a token out.

Step-level functions take one value a step; `spread` gives it to every token of the step. A value of NaN means that
the judge abstained or the episode was aborted: it enters no mean and no standard deviation, and stays NaN, which the
loss masks out.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Key = TypeVar("Key")

EPSILON = 1e-6
CONSTANT = 1e-12


def step_rewards(outcome: float, scores: Sequence[float | None], *, process_weight: float = 1.0) -> Floats:
    """Reward of each step: R_it = o_i + w mean_j r_itj over the votes j that could be read. Source: OpenClaw-RL.

    Args:
        outcome: o_i, the episode's outcome.
        scores: each step's mean of its valid votes; None where the judge abstained, which leaves the outcome alone;
            NaN where the judge could not be asked, which leaves the step out.
        process_weight: w, 0 for outcome only.

    Returns:
        Array of shape (steps,).
    """
    if process_weight == 0:
        return np.full(len(scores), outcome, dtype=np.float64)
    return np.array([outcome + process_weight * (0.0 if score is None else score) for score in scores], np.float64)


def step_index(groups: Sequence[str], steps: ArrayLike, rewards: ArrayLike) -> Floats:
    """Step-index-grouped advantage: A = (R - mean) / (std + eps) within the bucket (group, step index).

    Source: OpenClaw-RL, general agents. Attempts have unequal lengths, so a bucket holds only the samples that
    reached that step. Choices: the standard deviation is the population's; a bucket of one sample keeps its raw
    reward, since it has nothing to be compared with; a bucket of equal rewards (variance <= 1e-12) carries no
    signal and is NaN, that is, dropped.

    Args:
        groups: group of each step, length n.
        steps: step index of each, shape (n,).
        rewards: R of each, shape (n,); NaN is left out.

    Returns:
        Array of shape (n,).
    """
    indices = np.asarray(steps, dtype=np.int64)
    return _normalised([(group, int(index)) for group, index in zip(groups, indices, strict=True)], rewards)


def grpo(groups: Sequence[str], rewards: ArrayLike) -> Floats:
    """Group-normalised outcome: A = (R - mean) / (std + eps) within the group. Source: DeepSeekMath, eq. 5.

    Args:
        groups: group of each sample, length n.
        rewards: outcome of each, shape (n,); NaN is left out.

    Returns:
        Array of shape (n,); single samples keep their reward, constant groups are NaN.
    """
    return _normalised([(group, 0) for group in groups], rewards)


def rloo(groups: Sequence[str], rewards: ArrayLike) -> Floats:
    """Leave-one-out baseline: A_i = R_i - mean of the others in the group. Source: Ahmadian et al. 2024, eq. 7.

    Args:
        groups: group of each sample, length n.
        rewards: outcome of each, shape (n,); NaN is left out.

    Returns:
        Array of shape (n,); single samples keep their reward.
    """
    values = np.asarray(rewards, dtype=np.float64)
    advantages = np.full_like(values, np.nan)
    for members in _buckets(groups, values).values():
        n = len(members)
        total = values[members].sum()
        advantages[members] = values[members] if n == 1 else (values[members] * n - total) / (n - 1)
    return advantages


def reinforce_baseline(groups: Sequence[str], rewards: ArrayLike) -> Floats:
    """REINFORCE++ with baseline: group mean subtracted, then normalised over the batch. Source: Hu 2025, sec. 3.

    Args:
        groups: group of each sample, length n.
        rewards: outcome of each, shape (n,); NaN is left out.

    Returns:
        Array of shape (n,).
    """
    values = np.asarray(rewards, dtype=np.float64)
    centred = np.full_like(values, np.nan)
    for members in _buckets(groups, values).values():
        centred[members] = values[members] - (values[members].mean() if len(members) > 1 else 0.0)
    known = centred[~np.isnan(centred)]
    return (centred - known.mean()) / (known.std() + EPSILON) if known.size else centred


def binary(score: float, tokens: int) -> Floats:
    """A_t = r for every token, no normalisation. Returns shape (tokens,)."""
    return np.full(tokens, score, dtype=np.float64)


def opd(
    teacher_logprobs: ArrayLike,
    old_logprobs: ArrayLike,
    *,
    divergence: ArrayLike | None = None,
    clip: float | None = None,
) -> Floats:
    """On-policy distillation from hindsight: A_t = log pi_T(a_t | s + hint) - log pi_old(a_t | s).

    Source: OpenClaw-RL. The mean of A_t is minus the divergence of the two, so that nearly every sampled token is
    pushed down and the policy spreads out before it learns where to go. A baseline that does not depend on the token
    takes that away and leaves the expected gradient as it is; the exact mean is the best one:
    A_t + KL(pi(. | s) || pi_T(. | s + hint)).

    Args:
        teacher_logprobs: shape (tokens,), of the sampled tokens under the prompt with the hint.
        old_logprobs: shape (tokens,), as sampled.
        divergence: shape (tokens,), KL at each position, None for no baseline.
        clip: bound on |A_t|, None for none. A single surprising token otherwise outweighs the whole answer.

    Returns:
        Array of shape (tokens,).
    """
    advantages = np.asarray(teacher_logprobs, dtype=np.float64) - np.asarray(old_logprobs, dtype=np.float64)
    if divergence is not None:
        advantages = advantages + np.asarray(divergence, dtype=np.float64)
    return advantages if clip is None else np.clip(advantages, -clip, clip)


def combined(score: float, distilled: ArrayLike, *, binary_weight: float = 1.0, opd_weight: float = 1.0) -> Floats:
    """A_t = w_b r + w_o A_t^opd. Score 0 for a hint without a verdict, zeros for a verdict without a hint.

    Returns:
        Array of the shape of `distilled`.
    """
    return binary_weight * score + opd_weight * np.asarray(distilled, dtype=np.float64)


def topk(teacher_logprobs: ArrayLike, student_logprobs: ArrayLike) -> Floats:
    """Reverse KL a position over the teacher's top K tokens and one bin for the rest, as a loss to minimise.

    KL = sum_k p_s(k) (log p_s(k) - log p_T(k)) + the same for the tail bin, whose mass is one minus the sum.

    Args:
        teacher_logprobs: shape (positions, K), the teacher's K most likely tokens.
        student_logprobs: shape (positions, K), the student's log-probs of those same tokens.

    Returns:
        Array of shape (positions,).
    """
    teacher, student = np.asarray(teacher_logprobs, np.float64), np.asarray(student_logprobs, np.float64)
    tails = [np.log(np.maximum(1.0 - np.exp(a).sum(-1, keepdims=True), CONSTANT)) for a in (teacher, student)]
    teacher, student = np.concatenate([teacher, tails[0]], -1), np.concatenate([student, tails[1]], -1)
    kl: Floats = (np.exp(student) * (student - teacher)).sum(-1)
    return kl


def spread(values: ArrayLike, lengths: Sequence[int]) -> Floats:
    """Each step's value to every token of the step: shape (sum(lengths),)."""
    return np.repeat(np.asarray(values, dtype=np.float64), lengths)


def _buckets(keys: Sequence[Key], values: Floats) -> dict[Key, list[int]]:
    buckets: dict[Key, list[int]] = {}
    for position, key in enumerate(keys):
        if not np.isnan(values[position]):
            buckets.setdefault(key, []).append(position)
    return buckets


def _normalised(keys: Sequence[tuple[str, int]], rewards: ArrayLike) -> Floats:
    values = np.asarray(rewards, dtype=np.float64)
    advantages = np.full_like(values, np.nan)
    for members in _buckets(keys, values).values():
        bucket = values[members]
        if len(members) == 1:
            advantages[members] = bucket
        elif bucket.var() > CONSTANT:
            advantages[members] = (bucket - bucket.mean()) / (bucket.std() + EPSILON)
    return advantages
