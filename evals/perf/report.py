"""The report of a benchmark of speed: all repeats as JSON, medians and targets as Markdown tables."""

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import claw_envs
from evals.perf.measure import Contestant, Measure, Result

_DIGITS = 3
NOTHING = "–"


class Target(msgspec.Struct, kw_only=True):
    """A bound, and what was measured against it.

    Attributes:
        text: what must hold.
        measured: the figures in words.
        holds: None where something that it needs was not measured.
    """

    text: str
    measured: str
    holds: bool | None


class Report(msgspec.Struct, kw_only=True):
    """One run of one benchmark; what the JSON file holds."""

    benchmark: str
    command: str
    commit: str
    machine: dict[str, Any]
    settings: dict[str, Any]
    measures: list[Measure]
    contestants: list[Contestant]
    results: dict[str, Result]
    targets: list[Target] = []

    def median(self, contestant: str, measure: str) -> float | None:
        """Median of a measure; None where it was not measured."""
        return self.results[contestant].median(measure) if contestant in self.results else None

    def measure(self, name: str) -> Measure:
        """The measure of this name."""
        return next(measure for measure in self.measures if measure.name == name)


def of_run(
    benchmark: str,
    results: dict[str, Result],
    *,
    contestants: Sequence[Contestant],
    measures: Sequence[Measure],
    settings: Mapping[str, Any],
) -> Report:
    """The report of the run that this process did, without targets."""
    return Report(
        benchmark=benchmark,
        command=shlex.join(["python", "-m", "evals.perf", *sys.argv[1:]]),
        commit=commit(),
        machine=machine(),
        settings=dict(settings),
        measures=list(measures),
        contestants=list(contestants),
        results=results,
    )


def machine() -> dict[str, Any]:
    """What the figures depend on and a reader may know."""
    model = next((line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if "model name" in line), "")
    memory = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": model,
        "memory_gb": round(memory / 1e6, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def commit() -> str:
    """The checkout's commit, `+` for changes on top; the version where this is no checkout."""
    command = ["git", "-C", str(Path(claw_envs.__file__).parent.parent), "describe", "--always", "--dirty=+"]
    try:
        done = subprocess.run([*command, "--exclude=*"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return claw_envs.__version__
    return done.stdout.strip()


def shown(value: float | None) -> str:
    """A figure for people, three digits long.

    >>> [shown(0.0432), shown(141.26), shown(23456.0), shown(None)]
    ['0.0432', '141', '23500', '–']
    """
    if value is None:
        return NOTHING
    text = f"{value:.{_DIGITS}g}"
    return f"{float(text):.0f}" if "e" in text and abs(value) >= 1 else text


def page(report: Report, *tables: Sequence[Measure]) -> str:
    """The report for people: figures in `tables`, traits, targets, and what is missing."""
    machine = report.machine
    parts = [
        f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_gb']} GB, Linux {machine['kernel']}; "
        f"medians of {report.settings['repeats']} repeats; commit {report.commit}.",
        *(table(report, measures) for measures in tables),
        traits_table(report),
        targets_table(report.targets),
    ]
    missing = notes(report)
    return "\n\n".join([*parts, *(["\n".join(["Not measured:", "", *missing])] if missing else [])]) + "\n"


def table(report: Report, measures: Sequence[Measure]) -> str:
    """Contestants by measures, medians; why a cell is empty stands below."""
    head = ["", *(f"{measure.title} [{measure.unit}]" for measure in measures)]
    rows = []
    for each in report.contestants:
        result = report.results[each.name]
        if result.absent is None:
            title = f"**{each.title}**" if each.ours else each.title
            rows.append([title, *(shown(result.median(measure.name)) for measure in measures)])
    return markdown(head, rows)


def traits_table(report: Report) -> str:
    """What each contestant did, as it was measured."""
    present = [each for each in report.contestants if report.results[each.name].traits]
    names = list(dict.fromkeys(name for each in present for name in report.results[each.name].traits))
    words = {True: "yes", False: "no", None: NOTHING}
    rows = [[each.title, *(words[report.results[each.name].traits.get(name)] for name in names)] for each in present]
    return markdown(["", *names], rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def notes(report: Report) -> list[str]:
    """What was not measured and why, a line each."""
    lines = []
    for each in report.contestants:
        result = report.results[each.name]
        if result.absent is not None:
            lines.append(f"- {each.title}: {result.absent}")
        lines += [f"- {each.title}, {stage}: {reason}" for stage, reason in result.failures.items()]
    return lines


def targets_table(targets: Sequence[Target]) -> str:
    """Targets, what was measured, and whether they hold."""
    words = {True: "yes", False: "**no**", None: "not measured"}
    return markdown(
        ["target", "measured", "holds"], [[each.text, each.measured, words[each.holds]] for each in targets]
    )


def write(report: Report, text: str, directory: Path) -> None:
    """Write the JSON file, and the Markdown file with `text`."""
    encoded = msgspec.json.format(msgspec.json.encode(report), indent=1)
    (directory / f"{report.benchmark}.json").write_bytes(encoded)
    (directory / f"{report.benchmark}.md").write_text(text, encoding="utf-8")
