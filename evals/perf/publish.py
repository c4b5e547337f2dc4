"""What every benchmark of speed does once it has run: its files, its picture, and its page on the screen."""

from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from evals.perf import report
from evals.perf.measure import Measure
from evals.perf.report import Report


def publish(
    finished: Report, *tables: Sequence[Measure], out: Path, picture: str, draw: Callable[[Report, Path], None]
) -> None:
    """Write the report and its picture to the directory `out`, and print the page.

    Args:
        tables: the measures of each table of the page.
        picture: format of the picture.
        draw: draws it.
    """
    text = report.page(finished, *tables)
    report.write(finished, text, out)
    draw(finished, out / f"{finished.benchmark}.{picture}")
    typer.echo(text)
    typer.echo(f"written to {out}", err=True)
