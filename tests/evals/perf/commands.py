"""Runs the benchmarks of speed as a user does, and makes up what they report."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from evals.perf.entries import Entry
from evals.perf.measure import Measure, Result
from evals.perf.report import Report

ROOT = Path(__file__).parents[3]


def perf(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """`python -m evals.perf`."""
    command = [sys.executable, "-m", "evals.perf", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def quick(benchmark: str, out: Path, *names: str, options: tuple[str, ...] = ()) -> Report:
    """A quick run of these contestants."""
    only = [word for name in names for word in ("--only", name)]
    done = perf(benchmark, "--quick", "--out", str(out), *only, *options)
    assert done.returncode == 0, done.stderr
    assert (out / f"{benchmark}.md").read_text() == done.stdout[:-1]
    return msgspec.json.decode((out / f"{benchmark}.json").read_bytes(), type=Report)


def made(benchmark: str, entries: Sequence[Entry], measures: Sequence[Measure], **figures: dict[str, float]) -> Report:
    """A report of contestants (`_` for `-` in their names) with one repeat of one figure each."""
    names = {name.replace("_", "-"): values for name, values in figures.items()}
    return Report(
        benchmark=benchmark,
        command="",
        commit="",
        machine={},
        settings={"repeats": 1},
        measures=list(measures),
        contestants=[entry.contestant for entry in entries if entry.contestant.name in names],
        results={
            name: Result(repeats={key: [[value]] for key, value in values.items()}) for name, values in names.items()
        },
    )
