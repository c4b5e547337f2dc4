"""`python -m evals.perf terminal`: our sandboxes against SWE-ReX, mini-swe-agent and bare processes, in one run."""

import asyncio
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from claw_envs.core.errors import UserError
from evals.perf import plot, report
from evals.perf.measure import Contestant
from evals.perf.terminal import peers, scenario
from evals.perf.terminal.bench import Bench, Plan
from evals.perf.terminal.targets import BOUNDS, targets

_CROWDS = (32, 128)
_QUICK_CROWDS = (4,)
_OURS = plot.Group("claw-envs", "#0072B2")
_ISOLATED = plot.Group("peers, isolated", "#7b8794")
_ON_HOST = plot.Group("peers, on the bare host", "#b8c2cc")
_FLOOR = plot.Group("bare processes: the floor", "#dfe3e8")


def terminal(
    python: Annotated[
        str | None, typer.Option("--peers", metavar="PYTHON", help=f"Interpreter that has the peers: {peers.INSTALL}")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="For the JSON, Markdown and picture.")] = Path(
        "results/perf"
    ),
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this contestant; repeatable.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Repeats of everything, after a round that warms up.")] = 5,
    crowds: Annotated[
        list[int] | None, typer.Option("--crowd", min=1, metavar="N", help="Episodes at once; repeatable [32, 128].")
    ] = None,
    patience: Annotated[float, typer.Option(min=1, help="Seconds that one repeat of one contestant may take.")] = 180,
    image: Annotated[str, typer.Option(help="Image of the containers.")] = "claw-envs/base:bookworm",
    picture: Annotated[str, typer.Option(metavar="png|svg", help="Format of the picture.")] = "png",
    quick: Annotated[bool, typer.Option("--quick", help="One small repeat: does it all run?")] = False,
) -> None:
    """Sandboxes and terminal episodes: ours, SWE-ReX's, mini-swe-agent's, and bare processes."""
    if picture not in ("png", "svg"):
        raise UserError(f"--picture is png or svg, not {picture!r}")
    if find_spec("matplotlib") is None:
        raise UserError('the picture needs matplotlib: pip install "claw-envs[perf]"')
    entries = peers.choose(only or [])
    plan = Plan(
        python=peers.check_interpreter(python),
        image=image,
        crowds=tuple(sorted(set(crowds or (_QUICK_CROWDS if quick else _CROWDS)))),
        repeats=1 if quick else repeats,
        warm_up=not quick,
        patience=patience,
        size=scenario.SMALL if quick else scenario.Size(),
    )
    out.mkdir(parents=True, exist_ok=True)
    bench = Bench(entries, plan)
    asyncio.run(bench.run())
    finished = _report(bench, entries, plan)
    text = markdown(finished, plan.crowds)
    report.write(finished, out / "terminal.json")
    (out / "terminal.md").write_text(text, encoding="utf-8")
    draw(finished, plan.crowds, out / f"terminal.{picture}")
    typer.echo(text)
    typer.echo(f"written to {out}", err=True)


def _report(bench: Bench, entries: list[peers.Entry], plan: Plan) -> report.Report:
    finished = report.Report(
        benchmark="terminal",
        command=shlex.join(["python", "-m", "evals.perf", *sys.argv[1:]]),
        commit=report.commit(),
        machine=report.machine(),
        settings=msgspec.to_builtins(plan),
        measures=[*scenario.ALONE, *(measure for n in plan.crowds for measure in scenario.crowd_measures(n))],
        contestants=[entry.contestant for entry in entries],
        results=bench.results,
    )
    finished.targets = targets(finished)
    return finished


def markdown(finished: report.Report, crowds: tuple[int, ...]) -> str:
    """The report for people: figures, traits, targets, and what is missing."""
    machine = finished.machine
    crowd = [measure for n in crowds for measure in scenario.crowd_measures(n)]
    parts = [
        f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_gb']} GB, Linux {machine['kernel']}; "
        f"medians of {finished.settings['repeats']} repeats; commit {finished.commit}.",
        report.table(finished, scenario.ALONE),
        report.table(finished, crowd),
        report.traits_table(finished),
        report.targets_table(finished.targets),
    ]
    missing = report.notes(finished)
    return "\n\n".join([*parts, *(["\n".join(["Not measured:", "", *missing])] if missing else [])]) + "\n"


def draw(finished: report.Report, crowds: tuple[int, ...], path: Path) -> None:
    """The picture: what an agent waits for, then the largest crowd."""

    def group(each: Contestant) -> plot.Group:
        if each.ours or each.baseline:
            return _OURS if each.ours else _FLOOR
        return _ISOLATED if finished.results[each.name].traits.get(scenario.HIDES) else _ON_HOST

    measures = [*scenario.ALONE, *scenario.crowd_measures(max(crowds))]
    measures = [measure for measure in measures if measure.name not in ("start", "program")]
    bounds = {bound.measure: bound.most for bound in BOUNDS if bound.contestant == "namespace"}
    title = "What a terminal episode costs (logarithmic; dashed: the namespace backend's target)"
    plot.draw(finished, measures, path, title=title, group=group, bounds=bounds)
