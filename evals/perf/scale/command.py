"""`python -m evals.perf scale`: the asynchronous pipeline on clusters that nobody has at hand, simulated."""

import asyncio
from pathlib import Path
from typing import Annotated, cast, get_args

import msgspec
import typer

from claw_envs.core.errors import UserError
from evals.perf import options
from evals.perf.scale import sweep
from evals.perf.scale.bounds import means
from evals.perf.scale.page import origin, table_of
from evals.perf.scale.page import page as page_of
from evals.perf.scale.picture import draw
from evals.perf.scale.pipeline import Mode, Plan
from evals.perf.scale.result import simulate
from evals.perf.scale.table import H100, Spread, Table, read_table


def scale(
    file: Annotated[Path, typer.Option("--table", metavar="TOML", help="What the stages cost.")] = H100,
    gpus: Annotated[int | None, typer.Option(min=1, help="Simulate one cluster of this size, print it only.")] = None,
    environments: Annotated[int | None, typer.Option(min=1, help="Of that cluster [100 a GPU].")] = None,
    mode: Annotated[str, typer.Option(metavar="sync|async|partial", help="How it trains.")] = "partial",
    batch: Annotated[
        int | None, typer.Option(min=1, help="Samples an update, in whole groups [all environments work].")
    ] = None,
    max_staleness: Annotated[int, typer.Option(min=0, help="Bound on staleness, in updates.")] = 4,
    learning: Annotated[
        int | None, typer.Option(min=1, help="GPUs that learn [shared out by the closed form].")
    ] = None,
    judging: Annotated[int | None, typer.Option(min=0, help="GPUs that judge [likewise].")] = None,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
    calibrate: Annotated[
        Path | None, typer.Option(metavar="TOML", help="Measure this machine into a table, and simulate nothing.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Compare with real small runs on this machine.")] = False,
    out: options.Out = options.OUT,
    picture: options.Picture = "png",
    quick: options.Quick = False,
) -> None:
    """Throughput, bottleneck and staleness of the training pipeline on 1 to 1,000 GPUs, simulated."""
    if calibrate is not None or check:
        _measure(calibrate, quick=quick)
        return
    table = read_table(file)
    if gpus is not None:
        plan = _plan(table, gpus, environments, mode, batch, max_staleness, seed)
        typer.echo(f"{origin(table)}\n\n{table_of([simulate(table, _moved(plan, learning, judging))])}")
        return
    of_one = any(share is not None for share in (environments, batch, learning, judging))
    if of_one or mode != "partial" or max_staleness != 4:
        raise UserError("--environments, --mode, --batch, --max-staleness, --learning and --judging need --gpus")
    options.check_picture(picture)
    out.mkdir(parents=True, exist_ok=True)
    sizes = sweep.QUICK if quick else sweep.Size()
    sweeps = sweep.run(table, sizes, seed, lambda text: typer.echo(text, err=True))
    text = page_of(table, sweeps)
    (out / "scale.json").write_bytes(msgspec.json.format(msgspec.json.encode(sweeps), indent=1))
    (out / "scale.md").write_text(text, encoding="utf-8")
    draw(table, sweeps, out / f"scale.{picture}")
    typer.echo(text)
    typer.echo(f"written to {out}", err=True)


def _plan(
    table: Table, gpus: int, environments: int | None, mode: str, batch: int | None, max_staleness: int, seed: int
) -> Plan:
    if mode not in get_args(Mode):
        raise UserError(f"--mode is {', '.join(get_args(Mode))}, not {mode!r}")
    environments = environments or sweep.PER_GPU * gpus
    most = environments if mode == "sync" else environments // (max_staleness + 1)
    return sweep.make_plan(
        table,
        means(table),
        mode=cast(Mode, mode),
        gpus=gpus,
        environments=environments,
        batch=batch or most,
        max_staleness=max_staleness,
        seed=seed,
    )


def _moved(plan: Plan, learning: int | None, judging: int | None) -> Plan:
    """The plan with the shares that were asked for."""
    judging = plan.judging if judging is None else judging
    learning = plan.learning if learning is None else learning
    learning = plan.gpus - judging if plan.mode == "sync" else learning
    moved = msgspec.structs.replace(plan, learning=learning, judging=judging)
    if moved.serving < 1 or moved.learning < 1:
        raise UserError(f"{learning} GPUs that learn and {judging} that judge leave none of {plan.gpus} to serve")
    return moved


def _measure(table: Path | None, *, quick: bool) -> None:
    """Compare the simulation with real runs, or write what this machine takes into a table."""
    from evals.perf.scale.calibrate import calibrate, to_toml
    from evals.perf.scale.check import PARALLEL, check, page
    from evals.perf.scale.real import Played

    def say(text: str) -> None:
        typer.echo(text, err=True)

    if table is not None:
        measured = asyncio.run(calibrate("smollm2", "terminal", turns=4, say=say))
        table.write_text(to_toml(measured) + "\n", encoding="utf-8")
        say(f"written to {table}")
        return
    played = Played(response=Spread(median=40.0, sigma=0.5))
    if quick:
        played = msgspec.structs.replace(played, warm=1, updates=1)
    families = ("toolcall",) if quick else ("toolcall", "terminal")
    typer.echo(page(check(families, PARALLEL[1:2] if quick else PARALLEL, played, say)))
