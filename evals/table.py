"""A summary as text for a person: the figures of the whole, then a row for each group."""

from collections.abc import Sequence

from claw_envs.core.episode import Status
from evals.summary import Estimate, Figures, Official, Summary

COLUMNS = {"steps": ".1f", "calls": ".1f", "cost": ".4f"}
"""Metrics that the rows of the groups show, where the benchmark has them, and how."""


def table(summary: Summary) -> str:
    """`summary` as lines of text."""
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(summary.statuses.items()))
    rows = [("episodes", f"{sum(summary.statuses.values())} ({statuses})")]
    if summary.score is None:
        rows.append(("score", "none: nothing could be scored"))
    else:
        average, *passes = _names(summary)
        rows.append((average, f"{_range(summary.score, summary)} 95 %, {summary.interval}"))
        rows += [(name, _range(summary.at_k[name].value, summary.at_k[name])) for name in passes]
    rows += [(name, _figure(value)) for name, value in summary.metrics.items()]
    rows.append(("time", f"{summary.wall_s:.1f} s" + (f", {summary.resumed} resumed" if summary.resumed else "")))
    width = max(len(name) for name, _ in rows)
    lines = [f"{summary.benchmark} · {summary.model}", *(f"  {name:<{width}}  {text}" for name, text in rows)]
    for name, groups in summary.groups.items():
        lines += ["", *_aligned(_rows(name, groups, _names(summary)))]
    if summary.endings:
        lines += ["", *_aligned([["ending", "episodes"], *([name, str(n)] for name, n in summary.endings.items())])]
    if summary.official is not None:
        lines += ["", *_official(summary.official)]
    return "\n".join(lines)


def _names(figures: Figures) -> list[str]:
    """What the score is called, then every pass@k that is not the same number."""
    average, *passes = figures.at_k or ["score"]
    return ["score"] if average == "avg@1" else [average, *(name for name in passes if name != "pass@1")]


def _rows(name: str, groups: dict[str, Figures], figures: Sequence[str]) -> list[list[str]]:
    """A heading, then a row for each group; of the pass@k only the last, that of all samples."""
    average, last = figures[0], list(figures[1:])[-1:]
    metrics = [metric for metric in COLUMNS if any(metric in group.metrics for group in groups.values())]
    rows = [[name, "tasks", average, *last, *metrics, "truncated", "aborted"]]
    for value, group in groups.items():
        score = "-" if group.score is None else _range(group.score, group)
        passed = [_range(group.at_k[each].value, group.at_k[each]) if each in group.at_k else "-" for each in last]
        means = [f"{group.metrics[each]:{COLUMNS[each]}}" if each in group.metrics else "-" for each in metrics]
        counts = [str(group.statuses.get(status, 0)) for status in (Status.TRUNCATED, Status.ABORTED)]
        rows.append([value, str(group.tasks), score, *passed, *means, *counts])
    return rows


def _official(official: Official) -> list[str]:
    """What the benchmark's official program says, and where it says something else than we do."""
    n = official.n
    lines = [f"  {official.program}: {official.resolved} of {n} solved; {official.agree} of {n} verdicts as ours"]
    for each in official.differences:
        lines.append(f"    {each.task_id}/{each.sample_index}: ours {each.ours}, official {each.official}")
    return lines


def _figure(value: float) -> str:
    """Three decimals, or two digits of what is too small for them."""
    return f"{value:.2g}" if 0 < abs(value) < 0.01 else f"{value:.3f}"


def _range(value: float, ends: Figures | Estimate) -> str:
    """A figure with its 95 % interval."""
    return f"{value:.3f} [{ends.low:.3f}, {ends.high:.3f}]"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        lines.append("  ".join(["  " + first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]))
    return lines
