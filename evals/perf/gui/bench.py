"""Runs the scenarios of a browser, in order."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from evals.perf.bench import Bench
from evals.perf.entries import Entry
from evals.perf.gui import peers, scenario, subject
from evals.perf.measure import Result


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run.

    Attributes:
        python: the peers' interpreter.
        executable: path of the browser.
        controls: of the page.
        crowd: number of episodes at once.
        repeats: of each scenario.
        warm_up: run a round first whose figures are thrown away.
        patience: seconds that one repeat of one contestant may take.
    """

    python: str
    executable: str
    controls: int
    crowd: int
    repeats: int
    warm_up: bool
    patience: float
    size: scenario.Size


async def run(entries: Sequence[Entry], plan: Plan) -> dict[str, Result]:
    """Measure everything."""
    with tempfile.TemporaryDirectory(prefix="claw-perf-") as folder:
        made = subject.generate(Path(folder), controls=plan.controls)
        programs = partial(peers.programs, python=plan.python, executable=plan.executable, subject=made)
        bench = Bench(entries, programs=programs, patience=plan.patience)
        await bench.find()
        if plan.warm_up:
            await bench.stage("warm-up", partial(scenario.alone, size=scenario.SMALL), repeats=1, keep=False)
        await bench.stage("alone", partial(scenario.alone, size=plan.size), repeats=plan.repeats)
        crowd = partial(scenario.crowd, n=plan.crowd, size=plan.size)
        await bench.stage(f"{plan.crowd} at once", crowd, repeats=plan.repeats)
    return bench.results
