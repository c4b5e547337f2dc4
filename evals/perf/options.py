"""Options that every benchmark of speed has."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from claw_envs.core.errors import UserError

Out = Annotated[Path, typer.Option(metavar="DIR", help="For the JSON, Markdown and picture.")]
OUT = Path("results/perf")
Only = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this contestant; repeatable.")]
Repeats = Annotated[int, typer.Option(min=1, help="Repeats of everything, after a round that warms up.")]
Patience = Annotated[float, typer.Option(min=1, help="Seconds that one repeat of one contestant may take.")]
Image = Annotated[str, typer.Option(help="Image of the containers.")]
IMAGE = "claw-envs/base:bookworm"
Picture = Annotated[str, typer.Option(metavar="png|svg", help="Format of the picture.")]
Quick = Annotated[bool, typer.Option("--quick", help="One small repeat: does it all run?")]


def check_picture(picture: str) -> None:
    """Whether a picture of this format can be drawn.

    Raises:
        UserError: if not.
    """
    if picture not in ("png", "svg"):
        raise UserError(f"--picture is png or svg, not {picture!r}")
    if find_spec("matplotlib") is None:
        raise UserError('the picture needs matplotlib: pip install "claw-envs[perf]"')
