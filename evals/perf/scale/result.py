"""What a simulation says: how fast, how busy, how stale, and what holds it up."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from evals.perf.scale.bounds import Means, means, rates, turns_per_second
from evals.perf.scale.curve import Curve, fit_curve
from evals.perf.scale.pipeline import Pipeline, Plan, Tally
from evals.perf.scale.table import Table

_FULL = 0.85
"""Utilisation from which on a stage counts as what holds the others up."""
_WAITING = 0.1


class Use(msgspec.Struct, kw_only=True):
    """Utilisation of each stage, from 0 to 1."""

    serving: float
    """Turns served, of those that full engines could serve: above 1 where the draws were kinder than their mean."""
    hosts: float
    """Load on the cores."""
    judging: float
    """Judges at work."""
    learning: float
    """Time of the learner from the begin of an update until its weights are in the engines."""
    environments: float
    """Environments with an episode that is not waiting for admission."""


class Result(msgspec.Struct, kw_only=True):
    """One simulated run."""

    plan: Plan
    samples_per_second: float
    """Trained."""
    turns_per_second: float
    tokens_per_second: float
    """Sampled."""
    limit: float
    """Samples/s that no schedule of this plan exceeds in the mean, in closed form."""
    use: Use
    bottleneck: str
    staleness_mean: float
    staleness_p95: int
    staleness_max: int
    aborted: int
    """Attempts, over the whole run as the next two."""
    lost: int
    """Episodes whose every attempt was aborted."""
    events: int


def simulate(table: Table, plan: Plan, average: Means | None = None, *, curve: Curve | None = None) -> Result:
    """Run one simulation.

    Args:
        average: of the workload; None computes it.
        curve: of an engine; None fits it to the table's points.
    """
    average, curve = average or means(table), curve or fit_curve(table.serving.points)
    pipeline = Pipeline(table, plan, curve)
    before, after = pipeline.run()
    seconds = after.at - before.at
    full = turns_per_second(table, curve, average) * len(pipeline.fleet.engines)
    use = _use(pipeline, before, after, full)
    staleness = after.staleness - before.staleness
    return Result(
        plan=plan,
        samples_per_second=(after.samples - before.samples) / seconds,
        turns_per_second=(after.turns - before.turns) / seconds,
        tokens_per_second=(after.tokens - before.tokens) / seconds,
        limit=rates(table, plan, average, curve).most(plan.mode),
        use=use,
        bottleneck=bottleneck(use, plan),
        staleness_mean=sum(age * count for age, count in staleness.items()) / staleness.total(),
        staleness_p95=quantile(staleness, 0.95),
        staleness_max=max(after.staleness),
        aborted=pipeline.rollout.aborted,
        lost=pipeline.rollout.lost,
        events=pipeline.clock.events,
    )


def _use(pipeline: Pipeline, before: Tally, after: Tally, full: float) -> Use:
    """
    Args:
        full: turns/s of full engines.
    """
    seconds = after.at - before.at
    return Use(
        serving=(after.turns - before.turns) / seconds / full,
        hosts=(after.host_area - before.host_area) / seconds / pipeline.hosts.capacity,
        judging=(after.judge_area - before.judge_area) / seconds / pipeline.judges.capacity,
        learning=(after.learn_seconds - before.learn_seconds) / seconds,
        environments=1 - (after.idle_area - before.idle_area) / seconds / pipeline.plan.environments,
    )


def bottleneck(use: Use, plan: Plan) -> str:
    """What to have more of: the fullest stage, or where none is full what keeps the stages waiting."""
    stages: Mapping[str, float] = {
        "serving": use.serving,
        "environment hosts": use.hosts,
        "judging": use.judging,
        "learning": use.learning,
    }
    fullest = max(stages, key=lambda name: stages[name])
    if stages[fullest] >= _FULL:
        return fullest
    if plan.mode == "sync":
        return "taking turns"
    return "staleness bound" if use.environments < 1 - _WAITING else "number of environments"


def quantile(counts: Counter[int], share: float) -> int:
    """The smallest value that at least `share` of all do not exceed."""
    seen = 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= share * counts.total():
            return value
    return 0
