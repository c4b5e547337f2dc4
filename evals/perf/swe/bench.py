"""Runs the scenarios of a repository's repair, in order."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from evals.perf import bench
from evals.perf.entries import Entry
from evals.perf.measure import Result
from evals.perf.swe import peers, scenario, subject


class Plan(bench.Plan, frozen=True, kw_only=True):
    """What is run.

    Attributes:
        python: the peers' interpreter.
        image: what the repository's image is built on.
        files: of the repository, 10 kB each.
        crowd: number of episodes at once.
    """

    python: str
    image: str
    files: int
    crowd: int
    size: scenario.Size


async def run(entries: Sequence[Entry], plan: Plan) -> dict[str, Result]:
    """Measure everything."""
    with tempfile.TemporaryDirectory(prefix="claw-perf-") as folder:
        made = subject.generate(Path(folder), files=plan.files)
        programs = partial(peers.programs, python=plan.python, image=plan.image, subject=made)
        crowds = {plan.crowd: partial(scenario.crowd, n=plan.crowd, size=plan.size)}
        among = [entry for entry in entries if not entry.contestant.baseline]  # so many clones are the disk's speed
        alone, small = partial(scenario.alone, size=plan.size), partial(scenario.alone, size=scenario.SMALL)
        running = bench.Bench(entries, programs=programs, patience=plan.patience)
        return await running.run(alone, crowds, plan=plan, small=small, among=among)
