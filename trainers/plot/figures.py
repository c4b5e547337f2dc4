"""The pictures of one run: small multiples over updates, one picture a question, and each main panel on its own."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trainers.plot.data import Column, Run
from trainers.plot.style import COLOURS, MARKERS, label, legend, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Panel(NamedTuple):
    """One set of axes."""

    name: str
    title: str
    unit: str
    lines: tuple[tuple[str, str], ...]
    """(column, label); a column that the run lacks is left out."""
    limits: tuple[float | None, float | None] = (None, None)
    """Fixed ends of the y axis."""
    scored: bool = False
    """Whether the columns are those of `scores.csv`."""


LEARNING = (
    Panel("score", "Score on held-out tasks", "score", (("score", "score"),), (0.0, 1.0), scored=True),
    Panel("reward", "Reward of what was judged", "reward", (("reward_mean", "mean"),)),
    Panel("kl", "KL to the reference model", "nats per token", (("kl", "KL"),)),
    Panel("entropy", "Policy entropy", "nats per token", (("entropy", "entropy"),), (0.0, None)),
    Panel(
        "staleness",
        "Staleness of trained tokens",
        "updates",
        (("staleness_mean", "mean"), ("staleness_max", "largest")),
        (0.0, None),
    ),
    Panel(
        "utilisation",
        "Loop utilisation",
        "% of time busy",
        (("serve_util", "serve"), ("rollout_util", "roll out"), ("judge_util", "judge"), ("learn_util", "learn")),
        (0.0, 100.0),
    ),
)
OPTIMISER = (
    Panel("loss", "Loss", "loss", (("loss", "loss"),)),
    Panel("grad_norm", "Gradient norm", "L2 norm", (("grad_norm", "norm"),), (0.0, None)),
    Panel("clip_fraction", "Clipped tokens", "% of tokens", (("clip_fraction", "clipped"),), (0.0, None)),
    Panel("logprob_gap", "Log-prob gap, sampler to trainer", "nats per token", (("logprob_gap", "gap"),)),
    Panel(
        "turns",
        "Turns",
        "turns",
        (("turns_served", "served"), ("turns_judged", "judged"), ("turns_queued", "queued"), ("aborted", "aborted")),
        (0.0, None),
    ),
    Panel("tokens", "Trained tokens", "tokens", (("tokens", "tokens"),), (0.0, None)),
)
_ANSWERS = {
    "correctness": ("Correct answers", "% of answers"),
    "words": ("Length", "words per answer"),
    "perplexity": ("Perplexity under the reference", "perplexity"),
    "empty": ("Empty answers", "% of answers"),
    "cutoff": ("Cut-off answers", "% of answers"),
    "called": ("Episodes with a tool call", "% of episodes"),
    "valid_calls": ("Calls that ran", "% of messages with calls"),
    "truncated": ("Episodes without an answer", "% of episodes"),
    "steps": ("Length", "messages per episode"),
    "calls": ("Tool calls", "calls per episode"),
}
_SHARES = ("correctness", "empty", "cutoff", "called", "valid_calls", "truncated")
_PERCENT = ("serve_util", "rollout_util", "judge_util", "learn_util", "clip_fraction", *_SHARES)


def draw_run(run: Run, folder: Path) -> list[Path]:
    """Draw every picture of `run` that it has the figures for; `overview.png` comes first."""
    folder.mkdir(parents=True, exist_ok=True)
    sheets = (("overview", LEARNING), ("answers", answer_panels(run)), ("optimiser", OPTIMISER))
    drawn = []
    for name, panels in sheets:
        present = [panel for panel in panels if _lines(run, panel)]
        if not present:
            continue
        path = folder / f"{name}.png"
        with picture(path, rows=-(-len(present) // 3), columns=min(3, len(present))) as (_, axes):
            for each, panel in zip(axes, present, strict=False):
                draw_panel(each, run, panel, legend_row=name != "answers")
        drawn.append(path)
    for panel in LEARNING:
        if _lines(run, panel):
            path = folder / f"{panel.name}.png"
            with picture(path, rows=1, columns=1) as (figure, axes):
                figure.set_size_inches(5.6, 3.4)
                draw_panel(axes[0], run, panel, legend_row=True)
            drawn.append(path)
    return drawn


def answer_panels(run: Run) -> tuple[Panel, ...]:
    """Panels for what the evaluator reports beside the score, whatever it is."""
    fixed = ("version", "time_s", "score")
    names = [name for name in run.scores if name not in fixed and not name.endswith(("_low", "_high"))]
    known = [name for name in _ANSWERS if name in names]
    return tuple(answer_panel(name) for name in known + [name for name in names if name not in known])


def answer_panel(name: str) -> Panel:
    """The panel of one figure of the evaluator."""
    title, unit = _ANSWERS.get(name, (name.replace("_", " ").capitalize(), name))
    limits = (0.0, 100.0) if name in _PERCENT else (0.0, None)
    return Panel(name, title, unit, ((name, unit),), limits, scored=True)


def scaled(name: str, values: Column) -> Column:
    """`values` in the unit that panels show: shares become percent."""
    return values * 100 if name in _PERCENT else values


def draw_panel(axes: "Axes", run: Run, panel: Panel, *, legend_row: bool) -> None:
    """Draw one panel; bands: one standard deviation of the reward, the 95 % interval of the score."""
    table = run.scores if panel.scored else run.updates
    lines = _lines(run, panel)
    for i, (column, text) in enumerate(lines):
        values = scaled(column, table[column])
        look = {"marker": MARKERS[i]} if len(values) <= 40 else {"linewidth": 1.1}
        axes.plot(table["version"], values, color=COLOURS[i], label=text, **look)
    _band(axes, table, panel)
    label(axes, title=panel.title, unit=panel.unit, legend_row=legend_row)
    last = max(float(each["version"].max()) for each in (run.updates, run.scores) if each)
    axes.set_xlim(-0.03 * last, 1.03 * last or 1.0)  # the same for every panel of a sheet
    low, high = panel.limits
    top = max((float(np.nanmax(scaled(c, table[c]), initial=0.0)) for c, _ in lines), default=0.0)
    if low is not None:
        span = high if high is not None else top or 1.0
        axes.set_ylim(low - 0.03 * span, span * (1.05 if high is not None else 1.12))
    if len(lines) > 1 or axes.collections:
        legend(axes)


def _band(axes: "Axes", table: dict[str, Column], panel: Panel) -> None:
    low: Column | None = None
    high: Column | None = None
    if panel.name == "score" and {"score_low", "score_high"} <= table.keys():
        low, high, text = table["score_low"], table["score_high"], "95 % interval"
    elif panel.name == "reward" and "reward_std" in table:
        low, high = table["reward_mean"] - table["reward_std"], table["reward_mean"] + table["reward_std"]
        text = "± 1 std over samples"
    if low is not None and high is not None:
        axes.fill_between(table["version"], low, high, color=COLOURS[0], alpha=0.15, linewidth=0, label=text)


def _lines(run: Run, panel: Panel) -> list[tuple[str, str]]:
    table = run.scores if panel.scored else run.updates
    return [(column, text) for column, text in panel.lines if column in table and np.isfinite(table[column]).any()]
