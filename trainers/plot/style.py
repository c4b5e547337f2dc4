"""How pictures look: colours, fonts, one set of axes, and saving. The only place that knows about the look."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Told apart with every common colour blindness: Okabe and Ito, "Color universal design" (2008)."""
GREY = "#6b7280"
MARKERS = ("o", "s", "^", "D", "v", "P")
_INK = "#1f2933"
_RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": "#9aa5b1",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e7eb",
    "grid.linewidth": 0.8,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 1.3,
    "legend.borderaxespad": 0.2,
}


@contextmanager
def picture(
    path: Path, *, rows: int, columns: int, title: str = "", widths: tuple[float, ...] = ()
) -> Iterator["tuple[Figure, list[Axes]]"]:
    """A figure of `rows` x `columns` axes, saved to `path` at the end; axes that stay empty are taken away."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    spacing = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1, wspace=0.03, hspace=0.05)
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(3.75 * columns + 0.3, 2.8 * rows), layout=spacing)
        grid = figure.subplots(rows, columns, squeeze=False)
        axes = list(grid.flat)
        yield figure, axes
        for each in axes:
            if not each.has_data():
                each.remove()
        figure.savefig(path, dpi=160, facecolor="white")


def label(axes: "Axes", *, title: str, unit: str, x: str = "update", legend_row: bool = False) -> None:
    """Title and axis labels; updates are whole numbers.

    Args:
        legend_row: leave a row for `legend` between title and axes, where it hides no data.
    """
    from matplotlib.ticker import MaxNLocator

    axes.set_title(title, pad=21 if legend_row else 6)
    axes.set_xlabel(x)
    axes.set_ylabel(unit)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 4, 5, 10], integer=True))
    axes.margins(x=0.03)


def legend(axes: "Axes", *, columns: int = 4) -> None:
    """The legend as one row above the axes."""
    row = axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=columns, columnspacing=0.9)
    row.set_in_layout(False)  # a long row must not push the columns of a sheet apart
