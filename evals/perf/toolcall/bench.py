"""Runs the tool calls' scenarios, in order."""

from collections.abc import Sequence
from functools import partial

from evals.perf import bench
from evals.perf.entries import Entry
from evals.perf.measure import Result
from evals.perf.toolcall import peers, scenario


class Plan(bench.Plan, frozen=True, kw_only=True):
    """What is run.

    Attributes:
        pythons: interpreters that have peers.
        image: of the containers.
        crowd: number of episodes at once.
    """

    pythons: tuple[str, ...]
    image: str
    crowd: int
    size: scenario.Size


async def run(entries: Sequence[Entry], plan: Plan) -> dict[str, Result]:
    """Measure everything."""
    programs = partial(peers.programs, pythons=plan.pythons, image=plan.image, crowd=plan.crowd)
    crowds = {plan.crowd: partial(scenario.crowd, n=plan.crowd, size=plan.size)}
    alone, small = partial(scenario.alone, size=plan.size), partial(scenario.alone, size=scenario.SMALL)
    running = bench.Bench(entries, programs=programs, patience=plan.patience)
    return await running.run(alone, crowds, plan=plan, small=small)
