"""The picture: speed by GPUs, utilisation by environments, speed and staleness by its bound, speed by the split."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from evals.perf.scale.result import Result
from evals.perf.scale.sweep import Sweeps
from evals.perf.scale.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MODES = {"sync": "#7b8794", "async": "#E69F00", "partial": "#0072B2"}
_STAGES = {
    "serving": "#0072B2",
    "learning": "#D55E00",
    "judging": "#009E73",
    "hosts": "#CC79A7",
    "environments": "#7b8794",
}
_GREY = "#b8c2cc"


def draw(table: Table, sweeps: Sweeps, path: Path) -> None:
    """Draw all four panels; the file's suffix is its format."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 9, "svg.hashsalt": "scale"}):
        figure = Figure(figsize=(11, 8), layout="constrained")
        panels = figure.subplots(2, 2)
        _by_gpus(panels[0, 0], sweeps.gpus)
        _by_environments(panels[0, 1], sweeps.environments)
        _by_staleness(panels[1, 0], sweeps.staleness)
        _by_split(panels[1, 1], sweeps)
        for axes in panels.flat:
            axes.spines[["top", "right"]].set_visible(False)
        whose = "published" if table.origin == "published" else "measured"
        title = f"The pipeline at scale, simulated with {whose} figures: {table.title}"
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        figure.savefig(path, dpi=150, facecolor="white", metadata={"Date": None} if path.suffix == ".svg" else None)


def _by_gpus(axes: "Axes", results: Iterable[Result]) -> None:
    for mode, colour in _MODES.items():
        own = [result for result in results if result.plan.mode == mode]
        axes.plot(
            [result.plan.gpus for result in own],
            [result.samples_per_second for result in own],
            color=colour,
            marker="o",
            label=mode,
        )
        if mode == "partial":
            limits = [result.limit for result in own]
            axes.plot(
                [result.plan.gpus for result in own], limits, color=_GREY, linestyle="--", label="limit of partial"
            )
    axes.set(xscale="log", yscale="log", xlabel="GPUs", ylabel="samples/s")
    axes.set_title("Samples/s by GPUs, 100 environments for each", loc="left", fontsize=9)
    axes.legend(frameon=False)


def _by_environments(axes: "Axes", results: list[Result]) -> None:
    environments = [result.plan.environments for result in results]
    for stage, colour in _STAGES.items():
        axes.plot(
            environments,
            [100 * getattr(result.use, stage) for result in results],
            color=colour,
            marker="o",
            label=stage,
        )
    plan = results[0].plan
    axes.set(xscale="log", xlabel="environments", ylabel="busy [%]", ylim=(0, 105))
    axes.set_title(
        f"Where the time goes: {plan.gpus} GPUs, partial, at most {plan.capacity} episodes admitted",
        loc="left",
        fontsize=9,
    )
    axes.legend(frameon=False)


def _by_staleness(axes: "Axes", results: list[Result]) -> None:
    stale = axes.twinx()
    for mode in ("async", "partial"):
        own = [result for result in results if result.plan.mode == mode]
        bounds = [result.plan.max_staleness for result in own]
        speeds = [result.samples_per_second for result in own]
        axes.plot(bounds, speeds, color=_MODES[mode], marker="o", label=f"{mode}, samples/s")
        if mode == "partial":
            ages = [result.staleness_mean for result in own]
            stale.plot(bounds, ages, color=_GREY, marker="s", label="staleness of partial, mean")
            most = [result.staleness_max for result in own]
            stale.plot(bounds, most, color=_GREY, linestyle=":", label="and at most")
    together = next(result for result in results if result.plan.mode == "sync")
    axes.axhline(together.samples_per_second, color=_MODES["sync"], linestyle="--", label="sync, samples/s")
    axes.set(xlabel="max_staleness", ylabel="samples/s", ylim=(0, None))
    stale.set(ylabel="updates", ylim=(0, None))
    stale.spines["top"].set_visible(False)
    axes.set_title(
        f"What a bound on staleness costs: {together.plan.gpus} GPUs, batches of {together.plan.batch}",
        loc="left",
        fontsize=9,
    )
    lines = [*axes.get_lines(), *stale.get_lines()]
    axes.legend(lines, [str(line.get_label()) for line in lines], frameon=False, loc="lower right")


def _by_split(axes: "Axes", sweeps: Sweeps) -> None:
    learners, limits = zip(*sweeps.limits, strict=True)
    axes.plot(learners, limits, color=_GREY, linestyle="--", label="limit, in closed form")
    axes.plot(
        [result.plan.learning for result in sweeps.split],
        [result.samples_per_second for result in sweeps.split],
        color=_MODES["partial"],
        marker="o",
        label="simulated",
    )
    plan = sweeps.split[0].plan
    axes.set(
        xlabel=f"GPUs that learn, of {plan.gpus - plan.judging} that learn or serve", ylabel="samples/s", ylim=(0, None)
    )
    axes.set_title(f"Split of {plan.gpus} GPUs, {plan.judging} of which judge; partial", loc="left", fontsize=9)
    axes.legend(frameon=False)
