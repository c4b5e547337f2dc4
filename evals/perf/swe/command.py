"""`python -m evals.perf swe`: our episodes in a repository, mini-swe-agent's with SWE-bench's harness, and clones."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from evals.perf import options, plot, report
from evals.perf.entries import check_interpreter, choose
from evals.perf.publish import publish
from evals.perf.swe import bench, peers, scenario
from evals.perf.swe.targets import BOUNDS, targets

_FILES, _QUICK_FILES = 5000, 100
_CROWD, _QUICK_CROWD = 16, 2


def swe(
    python: Annotated[
        str | None, typer.Option("--peers", metavar="PYTHON", help=f"Interpreter that has the peers: {peers.INSTALL}")
    ] = None,
    out: options.Out = options.OUT,
    only: options.Only = None,
    repeats: options.Repeats = 3,
    crowd: Annotated[
        int | None, typer.Option("--crowd", min=1, metavar="N", help=f"Episodes at once [{_CROWD}].")
    ] = None,
    patience: options.Patience = 180,
    image: options.Image = options.IMAGE,
    picture: options.Picture = "png",
    quick: options.Quick = False,
) -> None:
    """Episodes in a repository of 50 MB: ours, mini-swe-agent's with SWE-bench's harness, and clones."""
    options.check_picture(picture)
    entries = choose(peers.ENTRIES, only or [])
    plan = bench.Plan(
        python=check_interpreter(python or sys.executable, install=peers.INSTALL),
        image=image,
        files=_QUICK_FILES if quick else _FILES,
        crowd=crowd or (_QUICK_CROWD if quick else _CROWD),
        repeats=1 if quick else repeats,
        warm_up=not quick,
        patience=patience,
        size=scenario.SMALL if quick else scenario.Size(),
    )
    out.mkdir(parents=True, exist_ok=True)
    measures = scenario.crowd_measures(plan.crowd)
    publish(
        "swe",
        asyncio.run(bench.run(entries, plan)),
        scenario.ALONE,
        measures,
        entries=entries,
        plan=plan,
        targets=targets,
        out=out,
        picture=picture,
        draw=draw,
    )


def draw(finished: report.Report, path: Path) -> None:
    """The picture: everything, alone and among many."""
    bounds = {bound.measure: bound.most for bound in BOUNDS if bound.contestant == "namespace"}
    title = "What an episode in a repository of 50 MB costs (logarithmic; dashed: the namespace backend's target)"
    group = plot.grouping(finished, scenario.HIDES)
    plot.draw(finished, finished.measures, path, title=title, group=group, bounds=bounds)
