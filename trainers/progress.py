"""What a person sees while a run goes on: a live panel on a terminal, else one plain line an update."""

import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType

_COUNTS = (
    ("turns_served", "served"),
    ("turns_judged", "judged"),
    ("turns_queued", "queued"),
    ("judge_failed", "not judged"),
    ("aborted", "aborted"),
)
_LOOPS = (("serve_util", "serve"), ("rollout_util", "roll out"), ("judge_util", "judge"), ("learn_util", "learn"))
_FIGURES = (
    ("reward_mean", "reward"),
    ("score", "score"),
    ("kl", "KL"),
    ("entropy", "entropy"),
    ("staleness_mean", "staleness"),
)


class Progress:
    """Shows the latest figures of a run; a context manager.

    Figures go by the names of `metrics.csv` (`version`, `turns_served`, `reward_mean`, `serve_util`, ...) and of
    `scores.csv` (`score`); `time_s` is seconds since the run began. A figure that is not given keeps its last value.
    """

    def __init__(self, updates: int | None = None, *, stream: TextIO | None = None) -> None:
        """
        Args:
            updates: how many updates the run will make, where that is known.
            stream: where to write; None is standard error.
        """
        self.updates = updates
        self._stream = stream or sys.stderr
        self._figures: dict[str, float] = {}
        self._announced: tuple[float | None, ...] | None = None
        self._live = None
        if self._stream.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=self._stream), auto_refresh=False)

    def __enter__(self) -> "Progress":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def show(self, **figures: float) -> None:
        """Take over new figures and show them.

        Call it as often as there is news: without a terminal only a new version or score writes a line.
        """
        self._figures.update(figures)
        if self._live:
            self._live.start()  # does nothing where it has started
            self._live.update(self._panel(), refresh=True)
            return
        news = (self._figures.get("version"), self._figures.get("score"))
        if news != self._announced:
            self._announced = news
            print(self.line(), file=self._stream, flush=True)

    def line(self) -> str:
        """The latest figures on one line, without control characters."""
        parts = [self._head()]
        parts += [f"{label} {self._figures[name]:.3g}" for name, label in _FIGURES if name in self._figures]
        counts = [f"{self._figures[name]:.0f} {label}" for name, label in _COUNTS if name in self._figures]
        loops = [f"{label} {self._figures[name]:.0%}" for name, label in _LOOPS if name in self._figures]
        parts += [text for text in (", ".join(counts), "busy: " + ", ".join(loops) if loops else "") if text]
        return " | ".join(parts)

    def close(self) -> None:
        """Leave the last state on the screen; may be called again."""
        if self._live:
            self._live.stop()

    def _head(self) -> str:
        seconds = int(self._figures.get("time_s", 0))
        done = f"{self._figures.get('version', 0):.0f}" + (f"/{self.updates}" if self.updates else "")
        return f"{seconds // 60}:{seconds % 60:02d} update {done}"

    def _panel(self) -> "RenderableType":
        from rich.panel import Panel
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        grid = Table.grid(padding=(0, 2), expand=True)
        for _ in range(3):
            grid.add_column(ratio=1)
        blocks = []
        for rows, form in ((_COUNTS, "{:,.0f}"), (_FIGURES, "{:.3f}")):
            block = Table.grid(padding=(0, 2))
            for name, label in rows:
                value = self._figures.get(name)
                block.add_row(f"[dim]{label}[/dim]", "–" if value is None else form.format(value))
            blocks.append(block)
        loops = Table.grid(padding=(0, 2))
        for name, label in _LOOPS:
            busy = self._figures.get(name, 0.0)
            loops.add_row(f"[dim]{label}[/dim]", ProgressBar(total=1.0, completed=busy, width=16), f"{busy:.0%}")
        grid.add_row(*blocks, loops)
        return Panel(grid, title=self._head(), title_align="left", border_style="dim")
