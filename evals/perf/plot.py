"""The picture of a benchmark: a panel a measure, a bar a contestant, ours in colour.

Axes are logarithmic, since ratios are the point; each bar carries its figure.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evals.perf.measure import Contestant, Measure
from evals.perf.report import Report, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 4
_TARGET = "#D55E00"


class Group(NamedTuple):
    """Contestants of one colour."""

    title: str
    colour: str


_OURS = Group("claw-envs", "#0072B2")
_ISOLATED = Group("peers, isolated", "#7b8794")
_ON_HOST = Group("peers, on the bare host", "#b8c2cc")
_FLOOR = Group("bare processes: the floor", "#dfe3e8")


def grouping(report: Report, isolated: str) -> Callable[[Contestant], Group]:
    """Ours, the floor, and peers with and without the trait `isolated`."""

    def group(each: Contestant) -> Group:
        if each.ours or each.baseline:
            return _OURS if each.ours else _FLOOR
        return _ISOLATED if report.results[each.name].traits.get(isolated) else _ON_HOST

    return group


def draw(
    report: Report,
    measures: Sequence[Measure],
    path: Path,
    *,
    title: str,
    group: Callable[[Contestant], Group],
    bounds: Mapping[str, float],
) -> None:
    """Draw `measures` of those contestants that have any; the file's suffix is its format.

    Args:
        group: see `grouping`.
        bounds: measure -> the target of ours, a dashed line.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    present = [each for each in report.contestants if report.results[each.name].repeats][::-1]
    colours = [group(each).colour for each in present]
    rows = math.ceil(len(measures) / _COLUMNS)
    with mpl.rc_context({"font.size": 9, "svg.hashsalt": report.benchmark}):
        size = (3.3 * _COLUMNS + 1.6, rows * (0.24 * len(present) + 0.75) + 0.6)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, _COLUMNS, squeeze=False, sharey=True)
        for axes, measure in zip(grid.flat, measures, strict=False):
            values = [report.median(each.name, measure.name) for each in present]
            _panel(axes, values, colours, measure, bounds.get(measure.name))
        for axes in grid[:, 0]:
            axes.set_yticks(range(len(present)), [each.title for each in present])
            for label, each in zip(axes.get_yticklabels(), present, strict=True):
                label.set_fontweight("bold" if each.ours else "normal")
        for axes in list(grid.flat)[len(measures) :]:
            axes.remove()
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        groups = dict.fromkeys(group(each) for each in present[::-1])
        patches = [Patch(color=each.colour, label=each.title) for each in groups]
        figure.legend(handles=patches, loc="outside lower left", ncols=len(patches), frameon=False, fontsize=8.5)
        figure.savefig(path, dpi=150, facecolor="white", metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(
    axes: "Axes", values: Sequence[float | None], colours: Sequence[str], measure: Measure, bound: float | None
) -> None:
    known = [value for value in values if value is not None and value > 0]
    low, high = (min(known) / 4, max(known) * 15) if known else (0.1, 1.0)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    if bound is not None and low < bound < high:
        axes.axvline(bound, color=_TARGET, linestyle="--", linewidth=1, zorder=0)
    for row, (value, colour) in enumerate(zip(values, colours, strict=True)):
        if value is not None:
            axes.barh(row, max(value, low) - low, left=low, color=colour, height=0.72)
        text = f"{shown(value)} {measure.unit}" if value is not None else "not measured"
        axes.annotate(
            text,
            (max(value or low, low), row),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    axes.set_title(
        f"{measure.title}  ({'more' if measure.more_is_better else 'less'} is better)", loc="left", fontsize=9
    )
    axes.tick_params(axis="x", which="both", bottom=False, labelbottom=False)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
