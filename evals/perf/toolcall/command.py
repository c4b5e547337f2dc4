"""`python -m evals.perf toolcall`: our interpreter against gem's and verifiers' Python tools, in one run."""

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from evals.perf import options, plot, report
from evals.perf.entries import check_interpreter, choose
from evals.perf.publish import publish
from evals.perf.toolcall import bench, peers, scenario
from evals.perf.toolcall.targets import DISTANCE, SLOWDOWN, targets

_CROWD = 32
_QUICK_CROWD = 4


def toolcall(
    pythons: Annotated[
        list[str] | None,
        typer.Option(
            "--peers",
            metavar="PYTHON",
            help=f"Interpreter that has peers; repeatable: {peers.INSTALL}; {peers.INSTALL_OLD}",
        ),
    ] = None,
    out: options.Out = options.OUT,
    only: options.Only = None,
    repeats: options.Repeats = 3,
    crowd: Annotated[
        int | None, typer.Option("--crowd", min=2, metavar="N", help=f"Episodes at once [{_CROWD}].")
    ] = None,
    patience: options.Patience = 120,
    image: options.Image = options.IMAGE,
    picture: options.Picture = "png",
    quick: options.Quick = False,
) -> None:
    """Python tools: our interpreter, gem's and verifiers' tools, and bare execution."""
    options.check_picture(picture)
    entries = choose(peers.ENTRIES, only or [])
    plan = bench.Plan(
        pythons=tuple(check_interpreter(python, install=peers.INSTALL) for python in pythons or [sys.executable]),
        image=image,
        crowd=crowd or (_QUICK_CROWD if quick else _CROWD),
        repeats=1 if quick else repeats,
        warm_up=not quick,
        patience=patience,
        size=scenario.SMALL if quick else scenario.Size(),
    )
    out.mkdir(parents=True, exist_ok=True)
    measures = scenario.crowd_measures(plan.crowd)
    publish(
        "toolcall",
        asyncio.run(bench.run(entries, plan)),
        scenario.ALONE,
        measures,
        entries=entries,
        plan=plan,
        targets=partial(targets, n=plan.crowd),
        out=out,
        picture=picture,
        draw=partial(draw, n=plan.crowd),
    )


def draw(finished: report.Report, path: Path, *, n: int) -> None:
    """The picture: what an agent waits for, alone and among many."""
    shown = ("start", "reset", "call", "state", "big", f"call_{n}", f"slowdown_{n}", f"memory_{n}")
    title = "What a call of the Python tool costs (logarithmic; dashed: the interpreter's targets)"
    floor = finished.median("exec", f"call_{n}") or 0.0
    plot.draw(
        finished,
        [finished.measure(name) for name in shown],
        path,
        title=title,
        group=plot.grouping(finished, scenario.HIDES),
        bounds={f"call_{n}": floor + DISTANCE, f"slowdown_{n}": SLOWDOWN},
    )
