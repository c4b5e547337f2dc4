"""What every benchmark of speed does once it has run: its files, its picture, and its page on the screen."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import typer

from evals.perf import report
from evals.perf.bench import Plan
from evals.perf.entries import Entry
from evals.perf.measure import Measure, Result
from evals.perf.report import Report, Target


def publish(
    benchmark: str,
    results: Mapping[str, Result],
    *tables: Sequence[Measure],
    entries: Sequence[Entry],
    plan: Plan,
    targets: Callable[[Report], list[Target]],
    out: Path,
    picture: str,
    draw: Callable[[Report, Path], None],
) -> None:
    """Judge the results, write the report and its picture to the directory `out`, and print the page.

    Args:
        results: of the entries, by name.
        tables: the measures of each table of the page.
        targets: judges a report.
        picture: format of the picture.
        draw: draws it.
    """
    finished = report.of_run(
        benchmark,
        dict(results),
        contestants=[entry.contestant for entry in entries],
        measures=[measure for table in tables for measure in table],
        settings=msgspec.to_builtins(plan),
    )
    finished.targets = targets(finished)
    text = report.page(finished, *tables)
    report.write(finished, text, out)
    draw(finished, out / f"{finished.benchmark}.{picture}")
    typer.echo(text)
    typer.echo(f"written to {out}", err=True)
