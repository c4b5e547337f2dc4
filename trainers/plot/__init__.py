"""Pictures of training runs: `plot_run` for one, `plot_runs` to compare signals over seeds. Reads files only."""

from collections.abc import Sequence
from pathlib import Path

from claw_envs.core.errors import UserError
from trainers.plot.data import by_signal, read_run


def plot_run(run: Path) -> list[Path]:
    """Draw a run to PNG files in `run/plots/` and to one self-contained page, `run/report.html`.

    Returns:
        The files written, the page last.

    Raises:
        UserError: if `run` is no run directory or holds no figures yet.
    """
    from trainers.plot.figures import draw_run
    from trainers.plot.page import run_page

    data = read_run(Path(run))
    pictures = draw_run(data, data.path / "plots")
    page = data.path / "report.html"
    page.write_text(run_page(data, pictures), encoding="utf-8")
    return [*pictures, page]


def plot_runs(runs: Sequence[Path], *, out: Path) -> list[Path]:
    """Draw several runs over each other, by signal, as mean and spread over the runs of a signal (its seeds).

    Args:
        runs: run directories; those of one signal are taken as seeds of it.
        out: folder for `compare.png` and `compare.html`; made where it does not exist.

    Returns:
        The files written, the page last.

    Raises:
        UserError: if one of them is no run directory, or none holds scores.
    """
    from trainers.plot.compare import draw_comparison
    from trainers.plot.page import comparison_page

    groups = by_signal([read_run(Path(run)) for run in runs])
    if not any("score" in run.scores for group in groups.values() for run in group):
        raise UserError("none of these runs holds scores: train with an evaluation (eval.function) to compare them")
    out.mkdir(parents=True, exist_ok=True)
    picture = draw_comparison(groups, out / "compare.png")
    page = out / "compare.html"
    page.write_text(comparison_page(groups, picture), encoding="utf-8")
    return [picture, page]
