"""How targets are judged: bounds, distances from a floor, and ours against the best of the peers in every row."""

from collections.abc import Sequence
from typing import NamedTuple

from evals.perf.measure import STARTS, Measure
from evals.perf.report import Report, Target, shown


class Bound(NamedTuple):
    """The most that a measure of one of ours may be."""

    contestant: str
    measure: str
    most: float


def bounded(report: Report, bound: Bound, *, text: str | None = None) -> Target:
    """Whether a bound is kept; `text` says it in other words than the measure's."""
    measure, value = report.measure(bound.measure), report.median(bound.contestant, bound.measure)
    return Target(
        text=text or f"{bound.contestant}: {measure.title} at most {bound.most:g} {measure.unit}",
        measured=f"{shown(value)} {measure.unit}",
        holds=None if value is None else value <= bound.most,
    )


def near(report: Report, bound: Bound, floor: str, *, text: str) -> Target:
    """Whether a measure is at most `bound.most` above that of the contestant `floor`."""
    measure = report.measure(bound.measure)
    ours, bare = report.median(bound.contestant, bound.measure), report.median(floor, bound.measure)
    return Target(
        text=text,
        measured=f"{shown(ours)} {measure.unit}, {floor} {shown(bare)} {measure.unit}",
        holds=None if ours is None or bare is None else ours - bare <= bound.most,
    )


def times_as_fast(report: Report, ours: str, rival: str, measure: Measure, times: float) -> Target:
    """Whether ours takes at most one part in `times` of what the rival takes."""
    mine, theirs = report.median(ours, measure.name), report.median(rival, measure.name)
    factor = None if mine is None or theirs is None else theirs / mine
    return Target(
        text=f"{ours}: {measure.title} {times:g} times as fast as {rival}",
        measured=f"{shown(factor)} times ({shown(mine)} and {shown(theirs)} {measure.unit})",
        holds=None if factor is None else factor >= times,
    )


def ahead(report: Report, ours: str, peers: Sequence[str], *, but: Sequence[str] = ()) -> Target:
    """Ours against the best of `peers`, in every row that both have; rows named in `but` are no race."""
    behind, compared = [], 0
    for measure in (measure for measure in report.measures if measure.name not in but):
        sign = -1 if measure.more_is_better else 1
        mine = report.median(ours, measure.name)
        figures = {name: value for name in peers if (value := report.median(name, measure.name)) is not None}
        if mine is None or not figures:
            continue
        compared += 1
        best = min(figures, key=lambda name: sign * figures[name])
        if sign * mine >= sign * figures[best]:
            nothing = report.results[best].traits.get(STARTS) is False
            note = ", which starts nothing" if nothing else ""
            behind.append(f"{measure.title} ({shown(mine)}, {best} {shown(figures[best])} {measure.unit}{note})")
    return Target(
        text=f"{ours}: ahead in every row of {', '.join(peers) or 'no peer'}",
        measured=f"ahead in {compared - len(behind)} of {compared}" + (f"; not: {', '.join(behind)}" if behind else ""),
        holds=not behind if compared else None,
    )
