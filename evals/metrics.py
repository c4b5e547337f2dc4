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


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean.

    Raises:
        ValueError: if there are no values.
    """
    if not values:
        raise ValueError("the mean of no values is undefined")
    return math.fsum(values) / len(values)


def wilson_interval(successes: int, n: int, *, z: float = Z95) -> Interval:
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


def bootstrap_interval(values: Sequence[float], *, level: float = 0.95, draws: int = 2000, seed: int = 0) -> Interval:
    """Percentile bootstrap interval of the mean: Efron, "Bootstrap methods", Annals of Statistics 7 (1979).

    Args:
        values: independent ones; where a task was sampled several times, the tasks' means.
        level: coverage.
        draws: resamples.
        seed: of the resampling; the same values and seed give the same interval.

    Raises:
        ValueError: if there are no values.
    """
    if not values:
        raise ValueError("the interval of no values is undefined")
    rng = np.random.default_rng(seed)
    array = np.asarray(values, dtype=np.float64)
    means = array[rng.integers(0, len(array), size=(draws, len(array)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


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
