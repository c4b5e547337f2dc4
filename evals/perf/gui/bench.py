"""Runs the scenarios of a browser, in order."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from evals.perf import bench
from evals.perf.entries import Entry
from evals.perf.gui import peers, scenario, subject
from evals.perf.measure import Result


class Plan(bench.Plan, frozen=True, kw_only=True):
    """What is run.

    Attributes:
        python: the peers' interpreter.
        executable: path of the browser.
        controls: of the page.
        crowd: number of episodes at once.
    """

    python: str
    executable: str
    controls: int
    crowd: int
    size: scenario.Size


async def run(entries: Sequence[Entry], plan: Plan) -> dict[str, Result]:
    """Measure everything."""
    with tempfile.TemporaryDirectory(prefix="claw-perf-") as folder:
        made = subject.generate(Path(folder), controls=plan.controls)
        programs = partial(peers.programs, python=plan.python, executable=plan.executable, subject=made)
        crowds = {plan.crowd: partial(scenario.crowd, n=plan.crowd, size=plan.size)}
        alone, small = partial(scenario.alone, size=plan.size), partial(scenario.alone, size=scenario.SMALL)
        running = bench.Bench(entries, programs=programs, patience=plan.patience)
        return await running.run(alone, crowds, plan=plan, small=small)
