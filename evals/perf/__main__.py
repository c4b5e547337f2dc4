"""`python -m evals.perf NAME`: benchmarks of speed. Each is a function whose parameters are its options."""

import sys

import typer

from claw_envs.core.errors import InfrastructureError, UserError
from evals.perf.gui.command import gui
from evals.perf.hosts import hosts
from evals.perf.scale.command import scale
from evals.perf.swe.command import swe
from evals.perf.terminal.command import terminal
from evals.perf.toolcall.command import toolcall

app = typer.Typer(
    help="Benchmarks of speed: ours and the peers', in one run on this machine.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("gui")(gui)
app.command("hosts")(hosts)
app.command("scale")(scale)
app.command("swe")(swe)
app.command("terminal")(terminal)
app.command("toolcall")(toolcall)


def main() -> None:
    """Missed targets are reported, not an error; a user's mistake is one line and exit code 2."""
    try:
        app()
    except (UserError, InfrastructureError) as error:
        sys.stderr.write(f"evals.perf: {error}\n")
        sys.exit(2 if isinstance(error, UserError) else 1)


if __name__ == "__main__":
    main()
