"""`python -m evals.perf terminal`: our sandboxes against SWE-ReX, mini-swe-agent and bare processes, in one run."""

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from evals.perf import options, plot, report
from evals.perf.entries import check_interpreter, choose
from evals.perf.publish import publish
from evals.perf.terminal import bench, peers, scenario
from evals.perf.terminal.targets import BOUNDS, targets

_CROWDS = (32, 128)
_QUICK_CROWDS = (4,)


def terminal(
    python: Annotated[
        str | None, typer.Option("--peers", metavar="PYTHON", help=f"Interpreter that has the peers: {peers.INSTALL}")
    ] = None,
    out: options.Out = options.OUT,
    only: options.Only = None,
    repeats: options.Repeats = 5,
    crowds: Annotated[
        list[int] | None, typer.Option("--crowd", min=1, metavar="N", help="Episodes at once; repeatable [32, 128].")
    ] = None,
    patience: options.Patience = 180,
    image: options.Image = options.IMAGE,
    picture: options.Picture = "png",
    quick: options.Quick = False,
) -> None:
    """Sandboxes and terminal episodes: ours, SWE-ReX's, mini-swe-agent's, and bare processes."""
    options.check_picture(picture)
    entries = choose(peers.ENTRIES, only or [])
    plan = bench.Plan(
        python=check_interpreter(python or sys.executable, install=peers.INSTALL),
        image=image,
        crowds=tuple(sorted(set(crowds or (_QUICK_CROWDS if quick else _CROWDS)))),
        repeats=1 if quick else repeats,
        warm_up=not quick,
        patience=patience,
        size=scenario.SMALL if quick else scenario.Size(),
    )
    out.mkdir(parents=True, exist_ok=True)
    crowd = [measure for n in plan.crowds for measure in scenario.crowd_measures(n)]
    publish(
        "terminal",
        asyncio.run(bench.run(entries, plan)),
        scenario.ALONE,
        crowd,
        entries=entries,
        plan=plan,
        targets=targets,
        out=out,
        picture=picture,
        draw=partial(draw, crowds=plan.crowds),
    )


def draw(finished: report.Report, path: Path, *, crowds: tuple[int, ...]) -> None:
    """The picture: what an agent waits for, then the largest crowd."""
    measures = [*scenario.ALONE, *scenario.crowd_measures(max(crowds))]
    measures = [measure for measure in measures if measure.name not in ("start", "program")]
    bounds = {bound.measure: bound.most for bound in BOUNDS if bound.contestant == "namespace"}
    title = "What a terminal episode costs (logarithmic; dashed: the namespace backend's target)"
    group = plot.grouping(finished, scenario.HIDES)
    plot.draw(finished, measures, path, title=title, group=group, bounds=bounds)
