"""`python -m evals.perf gui`: our browser, BrowserGym's, and bare calls of the browser's protocol, in one run."""

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from claw_envs.gui.browser.executable import find_chromium
from evals.perf import options, plot, report
from evals.perf.entries import check_interpreter, choose
from evals.perf.gui import bench, peers, scenario
from evals.perf.gui.subject import CONTROLS
from evals.perf.gui.targets import MEASURED_CROWD, MEMORY, READY, targets
from evals.perf.publish import publish

_QUICK_CONTROLS, _QUICK_CROWD = 60, 2
HIDES = "keeps the browser from the host"
"""Trait that no peer has: their browsers are processes of the host like any other."""


def gui(
    python: Annotated[
        str | None, typer.Option("--peers", metavar="PYTHON", help=f"Interpreter that has BrowserGym: {peers.INSTALL}")
    ] = None,
    out: options.Out = options.OUT,
    only: options.Only = None,
    repeats: options.Repeats = 3,
    crowd: Annotated[
        int | None, typer.Option("--crowd", min=1, metavar="N", help=f"Episodes at once [{MEASURED_CROWD}].")
    ] = None,
    patience: options.Patience = 300,
    executable: Annotated[
        str | None, typer.Option(metavar="PATH", help="The browser of all; left out: the one that is found.")
    ] = None,
    picture: options.Picture = "png",
    quick: options.Quick = False,
) -> None:
    """Episodes in a browser: ours, BrowserGym's, and bare calls of the browser's protocol."""
    options.check_picture(picture)
    entries = choose(peers.ENTRIES, only or [])
    plan = bench.Plan(
        python=check_interpreter(python or sys.executable, install=peers.INSTALL),
        executable=find_chromium(executable),
        controls=_QUICK_CONTROLS if quick else CONTROLS,
        crowd=crowd or (_QUICK_CROWD if quick else MEASURED_CROWD),
        repeats=1 if quick else repeats,
        warm_up=not quick,
        patience=patience,
        size=scenario.SMALL if quick else scenario.Size(),
    )
    out.mkdir(parents=True, exist_ok=True)
    measures = scenario.crowd_measures(plan.crowd)
    publish(
        "gui",
        asyncio.run(bench.run(entries, plan)),
        scenario.ALONE,
        measures,
        entries=entries,
        plan=plan,
        targets=partial(targets, n=plan.crowd),
        out=out,
        picture=picture,
        draw=partial(draw, plan=plan),
    )


def draw(finished: report.Report, path: Path, *, plan: bench.Plan) -> None:
    """The picture: everything but the bare capture, alone and among many."""
    shown = [measure for measure in finished.measures if measure.name != scenario.CAPTURE]
    page = f"1280x720, {plan.controls} controls"
    title = f"What an episode in a browser costs, {page} (logarithmic; dashed: our target)"
    bounds = {"reset": READY} | ({f"memory_{MEASURED_CROWD}": MEMORY} if plan.crowd == MEASURED_CROWD else {})
    plot.draw(finished, shown, path, title=title, group=plot.grouping(finished, HIDES), bounds=bounds)
