"""What is simulated when nothing is asked for: how speed, bottleneck and staleness move with the cluster's size."""

from collections.abc import Callable, Iterator

import msgspec

from evals.perf.scale.bounds import Means, means, rates, split
from evals.perf.scale.curve import fit_curve
from evals.perf.scale.pipeline import Mode, Plan
from evals.perf.scale.result import Result, simulate
from evals.perf.scale.table import Table

PER_GPU = 100
"""Environments for each GPU, where their number is not what varies."""
_MANY = 50_000
"""Samples a simulation may take before it is cut down to the fewest updates."""


class Size(msgspec.Struct, kw_only=True, frozen=True):
    """How much is simulated."""

    gpus: tuple[int, ...] = (1, 2, 8, 32, 128, 1000)
    middle: int = 64
    """GPUs of the cluster in which the rest varies."""
    environments: tuple[int, ...] = (64, 256, 1024, 4096, 16384)
    staleness: tuple[int, ...] = (0, 1, 2, 4, 8)
    batch: int = 1024
    """Samples an update, in that cluster."""
    shares: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    """Of the GPUs that do not judge, those that learn."""
    bound: int = 4
    """max_staleness, where it is not what varies."""


QUICK = Size(gpus=(1, 8), middle=8, environments=(8, 64), staleness=(0, 2), batch=64, shares=(0.3, 0.7), bound=2)


class Sweeps(msgspec.Struct, kw_only=True):
    """Results by what varies."""

    gpus: list[Result]
    environments: list[Result]
    staleness: list[Result]
    split: list[Result]
    limits: list[list[float]]
    """Learners, and the closed form's samples/s with so many, for the sweep of the split."""


def run(table: Table, size: Size, seed: int, say: Callable[[str], None]) -> Sweeps:
    """Simulate everything; `say` is told what comes next."""
    average = means(table)

    def all_of(name: str, plans: Iterator[Plan]) -> list[Result]:
        results = []
        for plan in plans:
            say(f"{name}: {plan.mode}, {plan.gpus} GPUs, {plan.environments} environments")
            results.append(simulate(table, plan, average))
        return results

    return Sweeps(
        gpus=all_of("GPUs", _by_gpus(table, size, seed, average)),
        environments=all_of("environments", _by_environments(table, size, seed, average)),
        staleness=all_of("staleness", _by_staleness(table, size, seed, average)),
        split=all_of("split", _by_share(table, size, seed, average)),
        limits=_limits(table, size, seed, average),
    )


def make_plan(
    table: Table, average: Means, *, mode: Mode, gpus: int, environments: int, batch: int, max_staleness: int, seed: int
) -> Plan:
    """A plan whose GPUs are shared out as well as the closed form knows, run for as long as its pipeline is deep."""
    group = table.workload.group_size if table.workload.sample == "episode" else 1
    batch = max(group, batch // group * group)
    bound = 0 if mode == "sync" else max_staleness
    plan = Plan(
        gpus=gpus,
        learning=1,
        environments=environments,
        mode=mode,
        batch=batch,
        max_staleness=bound,
        warm=bound + 2,
        updates=max(3, min(20, _MANY // batch)),
        seed=seed,
    )
    return split(table, plan, average)


def _by_gpus(table: Table, size: Size, seed: int, average: Means) -> Iterator[Plan]:
    modes: tuple[Mode, ...] = ("sync", "async", "partial")
    for gpus in size.gpus:
        environments = PER_GPU * gpus
        batch = environments // (size.bound + 1)
        for mode in modes if gpus > table.serving.gpus else modes[:1]:
            yield make_plan(
                table,
                average,
                mode=mode,
                gpus=gpus,
                environments=environments,
                batch=batch,
                max_staleness=size.bound,
                seed=seed,
            )


def _middle(table: Table, size: Size, seed: int, average: Means, **changed: object) -> Plan:
    plain = {"mode": "partial", "environments": PER_GPU * size.middle, "max_staleness": size.bound}
    return make_plan(table, average, gpus=size.middle, batch=size.batch, seed=seed, **(plain | changed))  # type: ignore[arg-type]


def _by_environments(table: Table, size: Size, seed: int, average: Means) -> Iterator[Plan]:
    split_of_plenty = _middle(table, size, seed, average)
    for environments in size.environments:
        yield msgspec.structs.replace(split_of_plenty, environments=environments)


def _by_staleness(table: Table, size: Size, seed: int, average: Means) -> Iterator[Plan]:
    yield _middle(table, size, seed, average, mode="sync")
    for mode in ("async", "partial"):
        for bound in size.staleness:
            yield _middle(table, size, seed, average, mode=mode, max_staleness=bound)


def _by_share(table: Table, size: Size, seed: int, average: Means) -> Iterator[Plan]:
    best = _middle(table, size, seed, average)
    rest = best.gpus - best.judging
    for learning in sorted({best.learning, *(max(1, min(rest - 1, round(share * rest))) for share in size.shares)}):
        yield msgspec.structs.replace(best, learning=learning)


def _limits(table: Table, size: Size, seed: int, average: Means) -> list[list[float]]:
    best = _middle(table, size, seed, average)
    plans = [msgspec.structs.replace(best, learning=learning) for learning in range(1, best.gpus - best.judging)]
    curve = fit_curve(table.serving.points)
    return [[float(plan.learning), rates(table, plan, average, curve).most(plan.mode)] for plan in plans]
