"""Runs the terminal's scenarios, in order."""

from collections.abc import Sequence
from functools import partial

import msgspec

from evals.perf.bench import Bench
from evals.perf.entries import Entry
from evals.perf.measure import Result
from evals.perf.terminal import peers, scenario


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run.

    Attributes:
        python: the peers' interpreter.
        image: of the containers.
        crowds: numbers of episodes at once.
        repeats: of each scenario.
        warm_up: run a round first whose figures are thrown away.
        patience: seconds that one repeat of one contestant may take.
    """

    python: str
    image: str
    crowds: tuple[int, ...]
    repeats: int
    warm_up: bool
    patience: float
    size: scenario.Size


async def run(entries: Sequence[Entry], plan: Plan) -> dict[str, Result]:
    """Measure everything."""
    programs = partial(peers.programs, python=plan.python, image=plan.image)
    bench = Bench(entries, programs=programs, patience=plan.patience)
    await bench.find()
    if plan.warm_up:
        await bench.stage("warm-up", partial(scenario.alone, size=scenario.SMALL), repeats=1, keep=False)
    await bench.stage("alone", partial(scenario.alone, size=plan.size), repeats=plan.repeats)
    among = [entry for entry in entries if not entry.kind.startswith("pool-")]
    for n in plan.crowds:
        await bench.stage(
            f"{n} at once", partial(scenario.crowd, n=n, size=plan.size), repeats=plan.repeats, among=among
        )
    return bench.results
