"""The `claw` command: parses the command line and hands over; what a command does lives with the part that does it.

Other packages are looked up by dotted name when their command runs, so that `claw --help` starts at once and
`claw_envs` imports none of them.
"""

import sys
import time
from inspect import signature
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
    source: Annotated[
        str | None, typer.Argument(metavar="[SET|PATH]", help="Tasks [default: built-in terminal and SWE ones].")
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Tasks at a time.")] = 2,
    backend: Annotated[str, typer.Option(metavar="NAME", help="namespace or docker.")] = "namespace",
    network: Annotated[str | None, typer.Option(metavar="none|full", help="Instead of every task's own.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the reports there.")] = None,
) -> None:
    """Prove tasks: the solution must score 1, doing nothing 0. Built in are `terminal`, `swe`, `webapps`, `desktop`."""
    from claw_envs.soundness import table, validate_tasks, write_json

    reports = validate_tasks(source, parallel=parallel, backend=backend, network=network)
    typer.echo(table(reports))
    if json_file is not None:
        write_json(reports, json_file)
    raise typer.Exit(0 if all(report.ok for report in reports) else 1)


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


serve = typer.Typer(help="Serve to other processes and machines.", rich_markup_mode=None, no_args_is_help=True)
app.add_typer(serve, name="serve")


@serve.callback()
def _serve() -> None:
    """Keeps `envs` a subcommand while it is the only one."""


@serve.command("envs")
def serve_envs(
    families: Annotated[list[str] | None, typer.Argument(metavar="[FAMILY...]", help="Only these.")] = None,
    host: Annotated[str, typer.Option(help="Address to bind to; beyond loopback needs an API key.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8700,
    api_key_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Else CLAW_API_KEY is the key.")] = None,
    settings: Settings = None,
    allow_tasks: Annotated[
        list[str] | None, typer.Option(metavar="DIR|SET", help="Task sets that clients may name; repeatable.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Setting that clients may choose; repeatable.")
    ] = None,
    max_leases: Annotated[int, typer.Option(min=1, help="Environments at once.")] = 256,
    max_running: Annotated[int, typer.Option(min=1, help="Resets and steps at once.")] = 256,
    lease_ttl: Annotated[float, typer.Option(min=1.0, help="Seconds until a lost client's environment closes.")] = 60.0,
    warm: Annotated[int, typer.Option(min=0, help="Sandboxes kept ready between episodes.")] = 0,
) -> None:
    """Host environments for gymnasium.make(…, server=URL). --set KEY=VALUE or FAMILY.KEY=VALUE fixes a setting."""
    from claw_envs.play import value_of

    run = lookup("claw_envs.server.serve:serve", extra="serve")
    run(
        host=host,
        port=port,
        key_file=api_key_file,
        families=families or [],
        fixed={key: value_of(text) for key, text in pairs(settings).items()},
        sources=allow_tasks or [],
        choices=allow or [],
        max_leases=max_leases,
        max_running=max_running,
        lease_ttl=lease_ttl,
        warm=warm,
    )


@app.command()
def train(
    family: FamilyName,
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- FLAGS]", help="For a trainer's engine.")] = None,
    run: Annotated[Path | None, typer.Option(metavar="DIR", help="Run directory [default: runs/FAMILY].")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="TOML file with settings.")] = None,
    settings: Settings = None,
    updates: Annotated[int | None, typer.Option(min=0, help="Short for --set updates=N.")] = None,
    signal: Annotated[str | None, typer.Option(help="Short for --set signal=NAME.")] = None,
    model: Annotated[str | None, typer.Option(help="Short for --set model=NAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from DIR's last checkpoint.")] = False,
    trainer: Annotated[str, typer.Option(help="A `claw.trainers` entry point or module:function.")] = "async",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check the settings and say what would run.")] = False,
) -> None:
    """Train a model on an environment family. --set overrides the TOML file, e.g. --set optim.lr=2e-5."""
    short = {"updates": updates, "signal": signal, "model": model}
    overrides = pairs(settings) | {key: str(value) for key, value in short.items() if value is not None}
    train_with = lookup(find_trainer(trainer), extra="train")
    settings_of = lookup("trainers.config:load_config", extra="train")
    run = run or Path("runs") / family
    if resume and config is None and (run / "config.toml").exists():
        config = run / "config.toml"
    chosen = settings_of(family, config, overrides)
    chosen.arguments = arguments or chosen.arguments
    options = {"resume": resume} | ({"dry_run": True} if dry_run else {})
    try:
        signature(train_with).bind(chosen, run, **options)
    except TypeError as error:
        form = "train(config, run, *, resume=False, dry_run=False)"
        raise UserError(f"--trainer {trainer}: {error}; a trainer is {form}") from None
    train_with(chosen, run, **options)


@app.command("eval")
def evaluate(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help="E.g. terminal, swebench, aime, bfcl.")],
    model: Annotated[str, typer.Option(help="smollm2, an HF directory, or URL#MODEL (sglang+URL#DIR, vllm+URL#DIR).")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where results go; reuse it to resume.")] = None,
    source: Source = None,
    parallel: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 8,
    settings: Settings = None,
) -> None:
    """Score a model on a benchmark. The same --out again resumes; --set e.g. limit=5."""
    run = lookup("evals.cli:main_eval", extra="train")
    run(benchmark, model=model, out=out, tasks=source, parallel=parallel, settings=pairs(settings))


@app.command()
def view(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Results of `claw eval`.")],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The page [default: DIR/trajectories.html].")] = None,
) -> None:
    """Write the episodes of an evaluation as one HTML page: messages, verdicts, patches."""
    typer.echo(lookup("evals.view:write_page", extra="train")(folder, out))


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


images = typer.Typer(help="Root file systems of images, for sandboxes without an engine.", rich_markup_mode=None)
app.add_typer(images, name="images")


@images.command("export")
def export_images(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="IMAGE...", help="Name in the engine, tar archive, or tasks: a folder, a SWE set."),
    ],
    name: Annotated[str | None, typer.Option(help="Call the one image so [default: its own name].")] = None,
) -> None:
    """Turn images into cached root file systems; a Dockerfile is built first."""
    from claw_envs.sandbox.images.export import export, wanted_by

    wanted: list[str] = []
    for source in sources:
        needed = wanted_by(source)
        wanted += needed
        if not needed:
            typer.echo(f"{source}: its tasks run on the host's own system, no image is needed")
    if name is not None and len(wanted) != 1:
        raise UserError(f"--name is for one image, got {len(wanted)}")
    for source in wanted:
        for image in export(source, name):
            typer.echo(f"{image.name:<50} {image.rootfs}")


@images.command("pull")
def pull_images(
    sources: Annotated[
        list[str], typer.Argument(metavar="IMAGE...", help="Name of an image, or tasks that need some.")
    ],
) -> None:
    """Fetch images into the container engine, for the docker sandbox or for export."""
    from claw_envs.sandbox.images.export import wanted_by
    from claw_envs.sandbox.images.pull import pull

    for image in dict.fromkeys(image for source in sources for image in wanted_by(source)):
        if not Path(image).is_dir():  # a build folder is built when it is used
            pull(image)
            typer.echo(f"pulled {image}")


@images.command("list")
def list_images() -> None:
    """List exported images; of a built one also the folder that it was built from."""
    from claw_envs.sandbox.images.store import names, root_of

    typer.echo(f"{'name':<50} {'exported':<10} {'digest':<19} folder")
    for name in names():
        if image := root_of(name):
            day = time.strftime("%Y-%m-%d", time.gmtime(image.created))
            typer.echo(f"{name:<50} {day} {image.digest[:19]:<19} {image.folder}".rstrip())


@images.command("remove")
def remove_images(
    sources: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="As `claw images list` shows it, or a path as for export.")
    ],
) -> None:
    """Remove exported images."""
    from claw_envs.sandbox.images.export import exported_by
    from claw_envs.sandbox.images.store import remove

    for name in dict.fromkeys(name for source in sources for name in exported_by(source)):
        remove(name)
        typer.echo(f"removed {name}")


sandbox = typer.Typer(help="Sandboxes on this machine.", rich_markup_mode=None)
app.add_typer(sandbox, name="sandbox")


@sandbox.command("list")
def list_sandboxes() -> None:
    """List the sandboxes that run, and what prune removes (dead, expired): owner's pid, age, processes."""
    from claw_envs.sandbox.prune import listed

    typer.echo(f"{'backend':<10} {'owner':>8} {'seconds':>8} {'processes':>9} {'state':<7}  name")
    for row in listed():
        processes = "-" if row.processes is None else row.processes
        typer.echo(f"{row.backend:<10} {row.owner:>8} {row.age:>8.0f} {processes:>9} {row.state:<7}  {row.name}")


@sandbox.command("prune")
def prune_sandboxes() -> None:
    """Remove what owners that were killed left, and namespace sandboxes that began no episode for a day."""
    from claw_envs.sandbox.prune import prune

    for removed in prune():
        typer.echo(f"removed {removed}")


swe = typer.Typer(help="Instances of SWE-bench and its kin.", rich_markup_mode=None, no_args_is_help=True)
app.add_typer(swe, name="swe")


@swe.command("prepare")
def prepare_swe(
    source: Annotated[
        str | None, typer.Argument(metavar="[SOURCE]", help="Task set, file of rows, or folder [default: built-in].")
    ] = None,
    recipe: Annotated[Path | None, typer.Option(metavar="FILE", help="Recipe of these tasks from now on.")] = None,
    repository: Annotated[
        str | None, typer.Option(metavar="PATH|URL", help="Clone that has the base commit, in place of the recipe's.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; repeatable.")] = None,
) -> None:
    """Make the namespace sandbox's layers of tasks ahead, out of recipes (docs/swe-recipes.md)."""
    from claw_envs.swe.recipe.ahead import prepare_ahead

    for prepared, spec in prepare_ahead(source, recipe=recipe, repository=repository, only=task or ()):
        typer.echo(f"{prepared.id:<40} {spec.layers[-1]}")


@swe.command("convert")
def convert_swe(
    rows: Annotated[Path, typer.Argument(metavar="ROWS", help="File of rows: .jsonl, .json or .parquet.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="JSON lines; a new file.")],
) -> None:
    """Turn rows of SWE-bench 4 into rows of SWE-bench 5; needs claw-envs[swe4] in an environment of its own."""
    from claw_envs.swe.formats.specs4 import convert_file

    done = convert_file(rows, out)
    for fault in done.faults:
        typer.echo(f"left out {fault.name}: {fault.reason}", err=True)
    typer.echo(f"{len(done.rows)} of {len(done.rows) + len(done.faults)} rows in {out}")
    raise typer.Exit(1 if done.faults else 0)


@swe.command("parity")
def parity_swe(
    source: Annotated[str | None, typer.Argument(metavar="[SET|PATH]", help="Tasks [default: built-in].")] = None,
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; repeatable.")] = None,
    mutation: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this patch; repeatable.")] = None,
    backend: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Repeatable [default: both].")] = None,
    mutations: Annotated[Path | None, typer.Option(metavar="DIR", help="ID/half.patch, ID/breaks.patch.")] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Patches judged at a time.")] = 2,
    out: Annotated[Path, typer.Option(metavar="DIR", help="For the harness's files.")] = Path("runs/parity"),
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the rows there.")] = None,
) -> None:
    """Judge patches of every kind by our verdict and by SWE-bench's own harness; exit code 1 on a difference."""
    from claw_envs.soundness import write_json

    run = lookup("evals.swe.parity:parity", extra="swe")
    rows = run(source, out, backends=backend, only=task, mutations=mutation, written=mutations, parallel=parallel)
    typer.echo(lookup("evals.swe.parity:table", extra="swe")(rows))
    if json_file is not None:
        write_json(rows, json_file)
    raise typer.Exit(0 if all(row.ok for row in rows) else 1)


@app.command()
def doctor() -> None:
    """Say what this machine can run, and how to get what is missing."""
    from claw_envs.doctor import report

    typer.echo(report())
