"""Random figures of a simulation: a stream for each use, so that one more draw here changes nothing there."""

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.perf.scale.table import Spread

_CHUNK = 4096


def stream(spread: Spread, seed: list[int]) -> Callable[[], float]:
    """A function that draws from `spread`, the same figures for the same seed."""
    if spread.sigma == 0:
        constant = min(spread.median, spread.most)
        return lambda: constant
    return _values(
        lambda rng: np.minimum(rng.lognormal(math.log(spread.median), spread.sigma, _CHUNK), spread.most), seed
    )


def chances(share: float, seed: list[int]) -> Callable[[], bool]:
    """A function that is true in `share` of its calls."""
    if share == 0:
        return lambda: False
    return _values(lambda rng: rng.random(_CHUNK) < share, seed)


def _values(chunk: Callable[[np.random.Generator], NDArray[Any]], seed: list[int]) -> Callable[[], Any]:
    def every() -> Iterator[Any]:
        rng = np.random.default_rng(seed)
        while True:
            yield from chunk(rng).tolist()

    return every().__next__


def mean(spread: Spread) -> float:
    """Of the cut lognormal: E[min(X, m)] = e^(μ+σ²/2)·Φ((ln m - μ - σ²)/σ) + m·(1 - Φ((ln m - μ)/σ))."""
    if spread.sigma == 0:
        return min(spread.median, spread.most)
    middle, sigma = math.log(spread.median), spread.sigma
    whole = math.exp(middle + sigma**2 / 2)
    if spread.most == math.inf:
        return whole
    below = NormalDist().cdf
    edge = math.log(spread.most)
    cut = spread.most * (1 - below((edge - middle) / sigma))
    return whole * below((edge - middle - sigma**2) / sigma) + cut
