"""How fast an engine samples and a learner trains, as functions of their load, fitted to a table's points."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.perf.scale.table import Learning, Point


class Curve(NamedTuple):
    """Cost of continuous batching, in seconds.

    One decode step of n sequences that hold c tokens together takes `base + n·sequence + c·cached`: the weights are
    read once a step, keys and values once for each token of context (Pope et al. 2022, arXiv:2211.05102, section 2).
    A prompt takes `prefill` a token, and nothing else is computed meanwhile. So tokens/s rise with n and saturate.
    """

    base: float
    sequence: float
    cached: float
    prefill: float

    def step(self, sequences: int, cached: float) -> float:
        """Seconds of one decode step, which samples a token of each sequence.

        Args:
            cached: tokens in the engine's memory, of all sequences together.
        """
        return self.base + sequences * self.sequence + cached * self.cached

    def requests_per_second(self, prompt: float, response: float, concurrent: float, *, new: float) -> float:
        """Of one engine in a closed loop of `concurrent` requests, in the mean.

        A request takes part in `response` steps and delays all by its prefill, hence
        X = 1 / (new·prefill + response·step(n, n·(prompt + response/2)) / n).

        Args:
            prompt: tokens before the response.
            new: how many of them have to be read.
        """
        cached = concurrent * (prompt + response / 2)
        step = self.base + concurrent * self.sequence + cached * self.cached
        return 1 / (new * self.prefill + response * step / concurrent)


def fit_curve(points: Sequence[Point]) -> Curve:
    """The curve with the least squares of relative errors among those without negative costs.

    The time of a request is linear in the four costs; a cost that would be negative is 0, and the rest is fitted anew.
    """
    rows = np.array([_row(point) for point in points])
    kept = list(range(4))
    while True:
        costs: NDArray[np.float64] = np.zeros(4)
        costs[kept] = np.linalg.lstsq(rows[:, kept], np.ones(len(rows)), rcond=None)[0]
        if costs.min() >= 0:
            return Curve(*(float(cost) for cost in costs))
        kept.remove(int(costs.argmin()))


def fit_errors(curve: Curve, points: Sequence[Point]) -> list[float]:
    """Relative error of the curve's tokens/s at each point."""
    return [
        point.response
        * curve.requests_per_second(point.prompt, point.response, point.concurrent, new=point.prompt)
        / point.tokens_per_second
        - 1
        for point in points
    ]


def _row(point: Point) -> list[float]:
    """The parts of a request's time by cost, in units of the time that was measured."""
    seconds = point.response / point.tokens_per_second
    response, context = point.response, point.prompt + point.response / 2
    parts = [response / point.concurrent, response, response * context, point.prompt]
    return [part / seconds for part in parts]


def update_seconds(learning: Learning, gpus: int, tokens: float, longest: float) -> float:
    """Time of one update on `gpus` GPUs.

    fixed + passes·max(tokens/g, longest) / (r·(g/g0)^-e): tokens are spread evenly, but a sequence is on one GPU, so
    the longest is a lower bound (as in Graham 1969 on list scheduling); the speed r of a GPU, known at g0 of them,
    falls by a power e of their number that two points give. Beyond the points that is an extrapolation.

    Args:
        tokens: of the batch.
        longest: tokens of its longest sequence.
    """
    first, last = learning.points[0], learning.points[-1]
    speed = first.tokens_per_second
    if last.gpus != first.gpus:
        exponent = math.log(first.tokens_per_second / last.tokens_per_second) / math.log(last.gpus / first.gpus)
        speed *= (gpus / first.gpus) ** -exponent
    return learning.fixed_s + learning.passes * max(tokens / gpus, longest) / speed
