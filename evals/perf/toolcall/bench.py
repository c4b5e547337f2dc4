"""Runs the tool calls' scenarios, in order."""

from collections.abc import Sequence
from functools import partial

import msgspec

from evals.perf.bench import Bench
from evals.perf.entries import Entry
from evals.perf.measure import Result
from evals.perf.toolcall import peers, scenario


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run.

    Attributes:
        pythons: interpreters that have peers.
        image: of the containers.
        crowd: number of episodes at once.
        repeats: of each scenario.
        warm_up: run a round first whose figures are thrown away.
        patience: seconds that one repeat of one contestant may take.
    """

    pythons: tuple[str, ...]
    image: str
    crowd: int
    repeats: int
    warm_up: bool
    patience: float
    size: scenario.Size


async def run(entries: Sequence[Entry], plan: Plan) -> dict[str, Result]:
    """Measure everything."""
    programs = partial(peers.programs, pythons=plan.pythons, image=plan.image, crowd=plan.crowd)
    bench = Bench(entries, programs=programs, patience=plan.patience)
    await bench.find()
    if plan.warm_up:
        await bench.stage("warm-up", partial(scenario.alone, size=scenario.SMALL), repeats=1, keep=False)
    await bench.stage("alone", partial(scenario.alone, size=plan.size), repeats=plan.repeats)
    crowd = partial(scenario.crowd, n=plan.crowd, size=plan.size)
    await bench.stage(f"{plan.crowd} at once", crowd, repeats=plan.repeats)
    return bench.results
