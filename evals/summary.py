"""What the episodes of a benchmark amount to: `summary.json`. Figures are computed here, drawn elsewhere.

Aborted episodes are counted in `statuses` and enter nothing else. A task's value is the mean over its samples, so that
every task weighs the same, unless the benchmark says what its parts weigh.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from claw_envs.core.episode import Status
from evals.metrics import (
    Stratum,
    effective_size,
    mean,
    pass_at_k,
    stratified_interval,
    stratified_mean,
    wilson_interval,
)
from evals.results import EpisodeResult, by_task, mean_metrics


class Share(NamedTuple):
    """Which part of a benchmark a task belongs to. Within a part every task weighs the same."""

    part: str
    weight: float
    """Of the part as a whole; a part that weighs nothing counts only where nothing else is there."""


ALL = Share("", 1.0)
"""The share of each task where tasks weigh the same."""


class Estimate(msgspec.Struct, kw_only=True):
    """A figure with its 95 % interval.

    Attributes:
        interval: `wilson` where every task's value is 0 or 1, of as many tasks as would tell as much if they weighed
            the same; else `bootstrap over tasks`, part by part where the benchmark has parts.
        tasks: how many it is of.
    """

    value: float
    low: float
    high: float
    interval: str
    tasks: int


class Difference(msgspec.Struct, kw_only=True):
    """An episode of which a benchmark's official program says something else."""

    task_id: str
    sample_index: int
    ours: str
    official: str


class Official(msgspec.Struct, kw_only=True):
    """The verdicts of a benchmark's official program beside ours.

    Attributes:
        program: what gave them.
        n: episodes that we judged and the program was given; one that it gave no verdict on is a difference.
        resolved: of these, how many the program found solved.
        agree: of how many both say the same.
        differences: the others.
    """

    program: str
    n: int
    resolved: int
    agree: int
    differences: list[Difference] = []


class Figures(msgspec.Struct, kw_only=True):
    """What a set of episodes amounts to.

    Attributes:
        n: scored episodes.
        tasks: tasks with at least one.
        score: mean score; None where nothing was scored.
        low, high, interval: of `score`; see `Estimate`.
        statuses: episodes by status.
        metrics: further figures by name.
        endings: episodes by what became of them, where the benchmark says; aborted ones are `aborted`.
        at_k: `avg@k`, the score by its usual name with k the samples of a task, and `pass@k` for k = 1, 2, 4, … and
            all of them, over the tasks with at least k scored samples. Empty unless scores are 0 and 1.
    """

    n: int
    tasks: int
    score: float | None
    low: float | None
    high: float | None
    interval: str
    statuses: dict[str, int]
    metrics: dict[str, float]
    at_k: dict[str, Estimate]
    endings: dict[str, int] = {}


class Summary(Figures, kw_only=True):
    """`summary.json`.

    Attributes:
        groups: figures by what the benchmark groups its tasks by (`year`), and by its values (`2024`).
        wall_s: seconds of the call that wrote the summary.
        resumed: episodes taken over from earlier calls.
        official: the benchmark's official program's verdicts, where it was run.
        settings: what was run.
    """

    benchmark: str
    model: str
    groups: dict[str, dict[str, Figures]] = {}
    wall_s: float = 0.0
    resumed: int = 0
    official: Official | None = None
    settings: dict[str, Any] = {}


def summarise(
    results: Sequence[EpisodeResult],
    *,
    benchmark: str,
    model: str = "",
    metrics: Mapping[str, float] | None = None,
    settings: Mapping[str, Any] | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    shares: Mapping[str, Share] | None = None,
) -> Summary:
    """Compute the summary of `results`, one result an episode.

    Args:
        metrics: the benchmark's own figures; None takes the mean of every metric.
        labels: what a task is grouped by, by its id: `{"year": "2024"}`.
        shares: what a task weighs, by its id; None lets all weigh the same.
    """
    whole = figures(results, shares or {})
    members: dict[str, dict[str, list[EpisodeResult]]] = {}
    for result in results:
        for name, value in (labels or {}).get(result.task_id, {}).items():
            members.setdefault(name, {}).setdefault(value, []).append(result)
    summary = Summary(
        **msgspec.structs.asdict(whole),
        benchmark=benchmark,
        model=model,
        groups={
            name: {value: figures(group, shares or {}) for value, group in sorted(values.items(), key=_rank)}
            for name, values in members.items()
        },
        settings=dict(settings or {}),
    )
    if metrics is not None:
        summary.metrics = dict(metrics)
    return summary


def _rank(item: tuple[str, object]) -> tuple[float, str]:
    """Numbers by their size, then words."""
    value, _ = item
    return float(value) if value.isdecimal() else math.inf, value


def figures(results: Sequence[EpisodeResult], shares: Mapping[str, Share]) -> Figures:
    """Compute the figures of `results`; see `summarise`."""
    scores = {
        task_id: [result.score for result in group if result.score is not None]
        for task_id, group in by_task(results).items()
    }
    binary = all(score in (0.0, 1.0) for each in scores.values() for score in each)
    estimate = _estimate({task_id: mean(each) for task_id, each in scores.items()}, shares)
    return Figures(
        n=sum(map(len, scores.values())),
        tasks=len(scores),
        score=estimate.value if estimate else None,
        low=estimate.low if estimate else None,
        high=estimate.high if estimate else None,
        interval=estimate.interval if estimate else "none",
        statuses=dict(Counter(str(result.status) for result in results)),
        metrics=mean_metrics(results),
        at_k=_at_k(scores, shares, estimate) if estimate and binary else {},
        endings=_endings(results),
    )


def _endings(results: Sequence[EpisodeResult]) -> dict[str, int]:
    """The most frequent first; nothing where the benchmark gives none."""
    if not any(result.ending for result in results):
        return {}
    named = ("aborted" if result.status is Status.ABORTED else result.ending for result in results)
    return dict(Counter(named).most_common())


def _at_k(scores: Mapping[str, Sequence[float]], shares: Mapping[str, Share], average: Estimate) -> dict[str, Estimate]:
    most = max(map(len, scores.values()))
    found = {f"avg@{most}": average}
    for k in _powers_up_to(most):
        values = {
            task_id: pass_at_k(len(each), int(sum(each)), k) for task_id, each in scores.items() if len(each) >= k
        }
        if estimate := _estimate(values, shares):
            found[f"pass@{k}"] = estimate
    return found


def _powers_up_to(most: int) -> Iterable[int]:
    k = 1
    while k < most:
        yield k
        k *= 2
    yield most


def _estimate(values: Mapping[str, float], shares: Mapping[str, Share]) -> Estimate | None:
    """The mean of the tasks' values with its interval; None where there are none."""
    parts: dict[Share, list[float]] = {}
    for task_id, value in values.items():
        parts.setdefault(shares.get(task_id, ALL), []).append(value)
    weighing = [Stratum(share.weight, each) for share, each in parts.items() if share.weight > 0]
    strata = weighing or [Stratum(1.0, each) for each in parts.values()]
    if not strata:
        return None
    value, tasks = stratified_mean(strata), sum(len(stratum.values) for stratum in strata)
    if all(each in (0.0, 1.0) for stratum in strata for each in stratum.values):
        value, size = min(value, 1.0), effective_size(strata)  # the weights' rounding must not push it past 1
        name, interval = "wilson", wilson_interval(value * size, size)
    else:
        name, interval = "bootstrap over tasks", stratified_interval(strata)
    return Estimate(value=value, low=interval.low, high=interval.high, interval=name, tasks=tasks)
