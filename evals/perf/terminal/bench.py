"""Runs the terminal's scenarios, in order."""

from collections.abc import Sequence
from functools import partial

from evals.perf import bench
from evals.perf.entries import Entry
from evals.perf.measure import Result
from evals.perf.terminal import peers, scenario


class Plan(bench.Plan, frozen=True, kw_only=True):
    """What is run.

    Attributes:
        python: the peers' interpreter.
        image: of the containers.
        crowds: numbers of episodes at once.
    """

    python: str
    image: str
    crowds: tuple[int, ...]
    size: scenario.Size


async def run(entries: Sequence[Entry], plan: Plan) -> dict[str, Result]:
    """Measure everything."""
    programs = partial(peers.programs, python=plan.python, image=plan.image)
    crowds = {n: partial(scenario.crowd, n=n, size=plan.size) for n in plan.crowds}
    among = [entry for entry in entries if not entry.kind.startswith("pool-")]
    alone, small = partial(scenario.alone, size=plan.size), partial(scenario.alone, size=scenario.SMALL)
    running = bench.Bench(entries, programs=programs, patience=plan.patience)
    return await running.run(alone, crowds, plan=plan, small=small, among=among)
