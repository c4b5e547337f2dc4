"""The picture that compares signals: score over updates as mean and spread over seeds, where each seed ends, and what
the evaluator reports beside the score."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trainers.plot.data import Run, over_seeds
from trainers.plot.figures import answer_panels, scaled
from trainers.plot.style import COLOURS, GREY, MARKERS, label, legend, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Groups = dict[str, list[Run]]


def draw_comparison(groups: Groups, path: Path) -> Path:
    """Draw `groups` (signal -> runs) to `path`."""
    beside: dict[str, tuple[str, str, float | None]] = {}
    for runs in groups.values():
        for run in runs:
            beside |= {panel.name: (panel.title, panel.unit, panel.limits[1]) for panel in answer_panels(run)}
    rows = 1 + -(-len(beside) // 3)
    with picture(path, rows=rows, columns=3) as (figure, axes):
        grid = axes[0].get_gridspec()
        assert grid is not None
        axes[0].remove()
        axes[1].remove()
        wide = figure.add_subplot(grid[0, :2])
        curves(wide, groups, "score")
        label(wide, title="Score on held-out tasks, mean and spread over seeds", unit="score", legend_row=True)
        wide.set_ylim(-0.03, 1.05)
        legend(wide, columns=6)
        _ends(axes[2], groups)
        for each, (name, (title, unit, top)) in zip(axes[3:], beside.items(), strict=False):
            curves(each, groups, name)
            label(each, title=title, unit=unit)
            each.set_ylim(-3 if top else 0, 105 if top else each.get_ylim()[1] * 1.08)
        del axes[:2]
    return path


def curves(axes: "Axes", groups: Groups, column: str) -> None:
    """One line a signal: mean over its seeds; a band of one standard deviation; a faint line a seed."""
    last = max((run.scores["version"].max() for runs in groups.values() for run in runs if run.scores), default=0.0)
    for (signal, runs), (colour, marker) in zip(groups.items(), looks(groups), strict=True):
        versions, values = over_seeds(runs, column)
        if not versions.size:
            continue
        values = scaled(column, values)
        mean, spread = values.mean(axis=0), _spread(values)
        if len(versions) == 1:  # not trained: the same at every update
            versions, mean, spread = np.array([0.0, last]), mean.repeat(2), spread.repeat(2)
            values = values.repeat(2, axis=1)
        dashed = "--" if signal == "none" else "-"
        name = "no training" if signal == "none" else signal
        axes.plot(versions, mean, dashed, color=colour, marker=marker, label=f"{name} (n = {len(values)})", zorder=3)
        axes.fill_between(versions, mean - spread, mean + spread, color=colour, alpha=0.14, linewidth=0)
        if len(values) > 1:
            axes.plot(versions, values.T, color=colour, linewidth=0.7, alpha=0.4)


def looks(groups: Groups) -> list[tuple[str, str]]:
    """Colour and marker of each signal; the untrained model is grey."""
    trained = iter(zip(COLOURS * 2, MARKERS * 2, strict=True))
    return [(GREY, "") if signal == "none" else next(trained) for signal in groups]


def final(runs: list[Run], column: str, *, first: bool = False) -> np.ndarray:
    """The last (or first) value of a column of `scores.csv`, of shape (runs that have it,)."""
    ends = [run.scores[column][0 if first else -1] for run in runs if column in run.scores]
    return np.array(ends, dtype=np.float64)


def _spread(values: np.ndarray) -> np.ndarray:
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])


def _ends(axes: "Axes", groups: Groups) -> None:
    for i, (runs, (colour, marker)) in enumerate(zip(groups.values(), looks(groups), strict=True)):
        ends = final(runs, "score")
        if not ends.size:
            continue
        shifts = np.linspace(-0.14, 0.14, len(ends)) if len(ends) > 1 else np.zeros(1)
        axes.hlines(ends.mean(), i - 0.3, i + 0.3, color=colour, linewidth=2.5)
        axes.scatter(i + shifts, ends, color=colour, marker=marker or "o", s=26, edgecolor="white", linewidth=0.6)
        axes.annotate(f"{ends.mean():.2f}", (i, ends.max()), (0, 7), textcoords="offset points", ha="center")
    label(axes, title="Last score of each seed", unit="score", x="", legend_row=True)
    names = ["no training" if signal == "none" else signal for signal in groups]
    crowded = max(map(len, names)) * len(names) > 44
    axes.set_xticks(range(len(groups)), names, rotation=20 if crowded else 0, ha="right" if crowded else "center")
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.set_ylim(-0.03, 1.05)
    axes.grid(visible=False, axis="x")
