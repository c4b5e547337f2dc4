"""Estimators that benchmark reports use: means, their intervals, pass@k. Pure functions over numbers."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the standard normal distribution."""


class Interval(NamedTuple):
    """A confidence interval, both ends included."""

    low: float
    high: float


class Stratum(NamedTuple):
    """Values that weigh the same, and what they weigh together."""

    weight: float
    values: Sequence[float]


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean.

    Raises:
        ValueError: if there are no values.
    """
    if not values:
        raise ValueError("the mean of no values is undefined")
    return math.fsum(values) / len(values)


def wilson_interval(successes: float, n: float, *, z: float = Z95) -> Interval:
    """Score interval of a proportion p = successes / n; right for small n and for p near 0 and 1.

    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n): Wilson, "Probable inference, the law of succession, and
    statistical inference", JASA 22 (1927).

    >>> tuple(round(end, 3) for end in wilson_interval(5, 10))
    (0.237, 0.763)

    Raises:
        ValueError: unless 0 <= successes <= n and n > 0.
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"need 0 <= successes <= n and n > 0, got {successes} of {n}")
    p, spread = successes / n, z * z / n
    half = z * math.sqrt(p * (1 - p) / n + spread / (4 * n))
    low, high = (p + spread / 2 - half) / (1 + spread), (p + spread / 2 + half) / (1 + spread)
    return Interval(max(0.0, min(low, p)), min(1.0, max(high, p)))  # rounding must not push an end past p, 0 or 1


def stratified_mean(strata: Sequence[Stratum]) -> float:
    """sum_s w_s mean_s / sum_s w_s, over strata s of weight w_s.

    >>> stratified_mean([Stratum(1.0, [0.0, 1.0]), Stratum(3.0, [1.0])])
    0.875

    Raises:
        ValueError: if there are no values, or nothing weighs anything.
    """
    weights = _weights(strata)
    return math.fsum(weight * mean(stratum.values) for weight, stratum in zip(weights, strata, strict=True))


def effective_size(strata: Sequence[Stratum]) -> float:
    """1 / sum_s w_s^2 / n_s with weights that sum up to 1: as many values that weigh the same would tell as much.

    Kish, "Survey Sampling" (1965), 11.7.

    >>> effective_size([Stratum(1.0, [0.0, 1.0]), Stratum(1.0, [1.0, 1.0])])
    4.0

    Raises:
        ValueError: if there are no values, or nothing weighs anything.
    """
    weights = _weights(strata)
    return 1 / math.fsum(weight**2 / len(stratum.values) for weight, stratum in zip(weights, strata, strict=True))


def stratified_interval(
    strata: Sequence[Stratum], *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> Interval:
    """Percentile bootstrap interval of `stratified_mean`, drawn within each stratum.

    Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979).

    Args:
        strata: of independent values; where a task was sampled several times, the tasks' means.
        level: coverage.
        draws: resamples.
        seed: of the resampling; the same values and seed give the same interval.

    Raises:
        ValueError: if there are no values, or nothing weighs anything.
    """
    rng = np.random.default_rng(seed)
    means = np.zeros(draws)
    for weight, stratum in zip(_weights(strata), strata, strict=True):
        array = np.asarray(stratum.values, dtype=np.float64)
        means += weight * array[rng.integers(0, len(array), size=(draws, len(array)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def _weights(strata: Sequence[Stratum]) -> list[float]:
    """The strata's weights, which are made to sum up to 1."""
    if not strata or not all(stratum.values for stratum in strata):
        raise ValueError("the mean or interval of no values is undefined")
    total = math.fsum(stratum.weight for stratum in strata)
    if total <= 0:
        raise ValueError("the weights sum up to nothing")
    return [stratum.weight / total for stratum in strata]


def pass_at_k(n: int, successes: int, k: int) -> float:
    """Unbiased estimate of the probability that at least one of k samples succeeds, from n samples of one task.

    1 - C(n - c, k) / C(n, k): Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374.

    >>> pass_at_k(4, 1, 2)
    0.5

    Raises:
        ValueError: unless 0 <= successes <= n and 1 <= k <= n.
    """
    if not 0 <= successes <= n or not 1 <= k <= n:
        raise ValueError(f"need 0 <= successes <= n and 1 <= k <= n, got n={n}, successes={successes}, k={k}")
    return 1.0 - math.comb(n - successes, k) / math.comb(n, k)
