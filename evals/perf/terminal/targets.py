"""What the terminal's sandboxes must reach on 2 cores, and how far ahead of the peers they must be.

The namespace backend is compared with every peer, the docker backend with those that use Docker too: a peer that only
starts processes on the host gives no isolation that a container could be compared with. mini-swe-agent's `local` and
`bubblewrap` have nothing to start or to reset, so those rows of theirs are the cost of a Python object.
"""

from typing import NamedTuple

from evals.perf.measure import Measure
from evals.perf.report import Report, Target, shown
from evals.perf.terminal import scenario

PIPE_DISTANCE = 0.5
"""Milliseconds that a namespace step may take longer than the round trip of the same pipe without a sandbox."""
TIMES = 5.0
"""How many times as fast as SWE-ReX."""
TIMES_MEASURES = ("builtin", "cold", "start", "sleep")


class Bound(NamedTuple):
    """The most that a measure of one of ours may be."""

    contestant: str
    measure: str
    most: float


BOUNDS = (
    Bound("namespace", "reset", 40.0),
    Bound("namespace", "start_128", 3.0),
    Bound("namespace", "memory_128", 4.0),
    Bound("docker", "builtin", 3.0),
    Bound("docker", "reset", 150.0),
)


def targets(report: Report) -> list[Target]:
    """All targets, judged by the medians of `report`."""
    measured = {measure.name for measure in report.measures}
    found = [_near_pipe(report), *(_bound(report, bound) for bound in BOUNDS if bound.measure in measured)]
    for ours, rival in (("namespace", "swerex-local"), ("docker", "swerex-docker")):
        found += [_times(report, ours, rival, report.measure(name)) for name in TIMES_MEASURES]
    found.append(_times(report, "docker-pool", "swerex-docker", report.measure("start")))
    for ours, kind in (("namespace", ""), ("docker", "docker")):
        peers = [each.name for each in report.contestants if not (each.ours or each.baseline) and kind in each.name]
        found.append(_ahead(report, ours, peers))
    return found


def _near_pipe(report: Report) -> Target:
    ours, bare = report.median("namespace", "builtin"), report.median("pipe", "builtin")
    holds = None if ours is None or bare is None else ours - bare <= PIPE_DISTANCE
    return Target(
        text=f"namespace: a builtin's step within {PIPE_DISTANCE} ms of a bare pipe's round trip",
        measured=f"{shown(ours)} ms, pipe {shown(bare)} ms",
        holds=holds,
    )


def _bound(report: Report, bound: Bound) -> Target:
    measure, value = report.measure(bound.measure), report.median(bound.contestant, bound.measure)
    return Target(
        text=f"{bound.contestant}: {measure.title} at most {bound.most:g} {measure.unit}",
        measured=f"{shown(value)} {measure.unit}",
        holds=None if value is None else value <= bound.most,
    )


def _times(report: Report, ours: str, rival: str, measure: Measure) -> Target:
    mine, theirs = report.median(ours, measure.name), report.median(rival, measure.name)
    factor = None if mine is None or theirs is None else theirs / mine
    return Target(
        text=f"{ours}: {measure.title} {TIMES:g} times as fast as {rival}",
        measured=f"{shown(factor)} times ({shown(mine)} and {shown(theirs)} {measure.unit})",
        holds=None if factor is None else factor >= TIMES,
    )


def _ahead(report: Report, ours: str, peers: list[str]) -> Target:
    """Ours against the best of `peers`, in every row that both have."""
    behind, compared = [], 0
    for measure in report.measures:
        sign = -1 if measure.more_is_better else 1
        mine = report.median(ours, measure.name)
        figures = {name: value for name in peers if (value := report.median(name, measure.name)) is not None}
        if mine is None or not figures:
            continue
        compared += 1
        best = min(figures, key=lambda name: sign * figures[name])
        if sign * mine >= sign * figures[best]:
            nothing = report.results[best].traits.get(scenario.STARTS) is False
            note = ", which starts nothing" if nothing else ""
            behind.append(f"{measure.title} ({shown(mine)}, {best} {shown(figures[best])} {measure.unit}{note})")
    return Target(
        text=f"{ours}: ahead in every row of {', '.join(peers) or 'no peer'}",
        measured=f"ahead in {compared - len(behind)} of {compared}" + (f"; not: {', '.join(behind)}" if behind else ""),
        holds=not behind if compared else None,
    )
