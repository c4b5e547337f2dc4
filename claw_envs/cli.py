"""The `claw` command: parses the command line and hands over; what a command does lives with the part that does it.

Other packages are looked up by dotted name when their command runs, so that `claw --help` starts at once and
`claw_envs` imports none of them.
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.lookup import lookup
from claw_envs.lookup import trainer as find_trainer

app = typer.Typer(
    help="Environments, judges and trainers that learn from what happens after an agent acts.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

FamilyName = Annotated[str, typer.Argument(metavar="FAMILY", help="Environment family; `claw envs` lists them.")]
Source = Annotated[str | None, typer.Option("--tasks", metavar="SET", help="Task set or path [default: built-in].")]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="May be given several times.")]


def main() -> None:
    """Entry point: one line on stderr for a user's mistake (exit code 2) and for broken infrastructure (1)."""
    try:
        app()
    except (UserError, InfrastructureError) as error:
        sys.stderr.write(f"claw: {error}\n")
        sys.exit(2 if isinstance(error, UserError) else 1)


def pairs(settings: list[str] | None) -> dict[str, str]:
    """`["key=value", …]` as a dictionary.

    Raises:
        UserError: if one has no `=` or no key.
    """
    split = [setting.partition("=") for setting in settings or []]
    if wrong := ["".join(parts) for parts in split if not (parts[0] and parts[1])]:
        raise UserError(f"--set takes KEY=VALUE, got {wrong[0]!r}")
    return {key.strip(): value.strip() for key, _, value in split}


@app.command("envs")
def list_envs() -> None:
    """List the environment families."""
    from claw_envs.families import FAMILIES

    for row in FAMILIES:
        typer.echo(f"{row.id:<20} {row.summary}")


class _ListByDefault(TyperGroup):
    """`claw tasks` and `claw tasks FAMILY` are short for `claw tasks list …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


tasks = typer.Typer(cls=_ListByDefault, help="List task sets and prove that their tasks work.", rich_markup_mode=None)
app.add_typer(tasks, name="tasks")


@tasks.command("list")
def list_tasks(
    family: Annotated[str | None, typer.Argument(metavar="[FAMILY]", help="Only this family.")] = None,
    source: Source = None,
) -> None:
    """List tasks: id and first line of the instruction."""
    from claw_envs.core.tasksets import load_tasks
    from claw_envs.families import FAMILIES
    from claw_envs.families import family as find

    if source is not None and family is None:
        raise UserError("--tasks needs a family: claw tasks FAMILY --tasks SET")
    for row in [find(family)] if family else FAMILIES:
        for task in load_tasks(row.name, source):
            lines = task.instruction.strip().splitlines()
            typer.echo(f"{row.name:<9} {task.id:<28} {lines[0][:80] if lines else ''}")


@tasks.command("validate")
def validate_tasks(
    source: Annotated[str | None, typer.Argument(metavar="[PATH]", help="Folder of Harbor tasks.")] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Tasks at a time.")] = 2,
) -> None:
    """Prove terminal tasks: the solution must score 1, doing nothing must score 0."""
    validate = lookup("claw_envs.terminal.validate:validate_tasks", extra="all")
    reports = validate(source, parallel=parallel)
    typer.echo(f"{'task':<28} {'solution':>8} {'nothing':>8} {'seconds':>8}")
    for report in reports:
        solution, nothing = ("-" if score is None else f"{score:g}" for score in (report.oracle, report.noop))
        typer.echo(f"{report.task_id:<28} {solution:>8} {nothing:>8} {report.seconds:>8.1f}  {report.error or 'ok'}")
    failed = sum(not report.ok for report in reports)
    typer.echo(f"{len(reports) - failed} of {len(reports)} tasks are sound")
    raise typer.Exit(1 if failed else 0)


@app.command()
def play(
    family: FamilyName,
    task: Annotated[str | None, typer.Option(metavar="ID", help="Task to play [default: a random one].")] = None,
    source: Source = None,
    seed: Annotated[int | None, typer.Option(help="Makes task choice and simulated user repeatable.")] = None,
    settings: Settings = None,
) -> None:
    """Step an environment by hand. --set KEY=VALUE goes to its constructor, e.g. max_steps=5."""
    from claw_envs.play import play as run

    run(family, task=task, source=source, seed=seed, settings=pairs(settings))


@app.command()
def train(
    family: FamilyName,
    run: Annotated[Path | None, typer.Option(metavar="DIR", help="Run directory [default: runs/FAMILY].")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="TOML file with settings.")] = None,
    settings: Settings = None,
    updates: Annotated[int | None, typer.Option(min=0, help="Short for --set updates=N.")] = None,
    signal: Annotated[str | None, typer.Option(help="Short for --set signal=NAME.")] = None,
    model: Annotated[str | None, typer.Option(help="Short for --set model=NAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from DIR's last checkpoint.")] = False,
    trainer: Annotated[str, typer.Option(help="A `claw.trainers` entry point or module:function.")] = "async",
) -> None:
    """Train a model on an environment family. --set overrides the TOML file, e.g. --set optim.lr=2e-5."""
    short = {"updates": updates, "signal": signal, "model": model}
    overrides = pairs(settings) | {key: str(value) for key, value in short.items() if value is not None}
    train_with = lookup(find_trainer(trainer), extra="train")
    settings_of = lookup("trainers.config:load_config", extra="train")
    run = run or Path("runs") / family
    if resume and config is None and (run / "config.toml").exists():
        config = run / "config.toml"
    train_with(settings_of(family, config, overrides), run, resume=resume)


@app.command("eval")
def evaluate(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help="E.g. terminal, personal.")],
    model: Annotated[str, typer.Option(help="smollm2, a local HF directory, or URL#MODEL of an endpoint.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where results go; reuse it to resume.")] = None,
    source: Source = None,
    parallel: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 8,
    settings: Settings = None,
) -> None:
    """Score a model on a benchmark. The same --out again resumes; --set e.g. limit=5."""
    run = lookup("evals.cli:main_eval", extra="train")
    run(benchmark, model=model, out=out, tasks=source, parallel=parallel, settings=pairs(settings))


@app.command()
def plot(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories; several are compared.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where a comparison goes.")] = Path("runs/comparison"),
) -> None:
    """Draw a training run, or several over each other: PNG figures and one HTML page."""
    if len(runs) == 1:
        paths = lookup("trainers.plot:plot_run", extra="train")(runs[0])
    else:
        paths = lookup("trainers.plot:plot_runs", extra="train")(runs, out=out)
    for path in paths:
        typer.echo(path)


@app.command()
def doctor() -> None:
    """Say what this machine can run, and how to get what is missing."""
    from claw_envs.doctor import report

    typer.echo(report())
