"""Pictures of runs, from files as the trainer writes them."""

import re
from pathlib import Path

import numpy as np
import pytest

from claw_envs.core.errors import UserError
from trainers.metrics import MetricsWriter
from trainers.plot import plot_run, plot_runs
from trainers.plot.data import over_seeds, read_run

PNG = b"\x89PNG\r\n\x1a\n"


def make_run(path: Path, *, signal: str = "combined", updates: int = 4, offset: float = 0.0) -> Path:
    """A run with one update a version and an evaluation at every second."""
    writer = MetricsWriter(path)
    (path / "config.toml").write_text(f'family = "chat"\nsignal = "{signal}"\n[optim]\nlr = 2e-5\nnote = "<b>&</b>"\n')
    for version in range(updates + 1):
        if version:
            names = ("reward_mean", "reward_std", "kl", "entropy", "staleness_mean", "serve_util", "learn_util", "loss")
            writer.update({"version": version, "time_s": 10.0 * version, "samples": 16} | dict.fromkeys(names, 0.5))
        if version % 2 == 0:
            writer.score({"version": version, "score": 0.25 + 0.1 * version + offset, "correctness": 0.5})
    writer.close()
    return path


def test_a_run_becomes_pictures_and_one_page_that_works_offline(tmp_path: Path) -> None:
    written = plot_run(make_run(tmp_path / "run"))
    names = [path.relative_to(tmp_path / "run").as_posix() for path in written]
    signals = ("score", "reward", "kl", "entropy", "staleness", "utilisation")
    assert names[:3] == ["plots/overview.png", "plots/answers.png", "plots/optimiser.png"]
    assert names[3:] == [*(f"plots/{name}.png" for name in signals), "report.html"]
    assert all(path.read_bytes().startswith(PNG) for path in written[:-1])
    page = written[-1].read_text()
    assert not re.search(r"""(src|href)=["'](?!data:)|@import|url\(""", page)
    assert page.count("data:image/png;base64,") == 3
    assert "0.25 → 0.65" in page  # score, first and last
    assert ">64<" in page  # 4 updates of 16 samples
    assert "optim.lr" in page
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in page  # what a config says is text, never markup


def test_only_what_the_run_has_is_drawn(tmp_path: Path) -> None:
    writer = MetricsWriter(tmp_path)
    writer.score({"version": 0, "score": 0.25})
    writer.close()
    assert [path.name for path in plot_run(tmp_path)] == ["overview.png", "score.png", "report.html"]


def test_a_row_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    with open(run / "metrics.csv", "a") as file:
        file.write("5,50")
    assert read_run(run).updates["version"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("content", [None, "", "version,loss\n"])
def test_an_empty_run_is_one_clear_line(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "metrics.csv").write_text(content)
    with pytest.raises(UserError, match="nothing to draw yet"):
        plot_run(tmp_path)


def test_a_missing_run_and_a_broken_one_say_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such run directory"):
        plot_run(tmp_path / "none")
    (tmp_path / "metrics.csv").write_text("version,loss\n1,abc\n")
    with pytest.raises(UserError, match=r"metrics\.csv: not a table of numbers"):
        plot_run(tmp_path)


def test_seeds_are_averaged_over_the_versions_that_all_of_them_have(tmp_path: Path) -> None:
    runs = [
        read_run(make_run(tmp_path / "a", updates=4)),
        read_run(make_run(tmp_path / "b", updates=2, offset=0.1)),
    ]
    versions, values = over_seeds(runs, "score")
    assert versions.tolist() == [0, 2]
    np.testing.assert_allclose(values, [[0.25, 0.45], [0.35, 0.55]])


def test_runs_are_compared_by_signal(tmp_path: Path) -> None:
    runs = [
        make_run(tmp_path / f"{signal}{seed}", signal=signal, offset=0.1 * seed)
        for signal in ("binary", "opd")
        for seed in (0, 1)
    ]
    runs.append(make_run(tmp_path / "untrained", updates=0))
    picture, page = plot_runs(runs, out=tmp_path / "out")
    assert picture.read_bytes().startswith(PNG)
    text = page.read_text()
    assert "3 signals, 5 runs" in text
    assert text.index("<td>no training</td><td>1</td><td>0.25</td>") < text.index("<td>binary</td><td>2</td>")
    assert "0.30 ± 0.07" in text  # first scores .25 and .35
    assert "0.70 ± 0.07" in text  # last scores .65 and .75


def test_the_outcome_alone_is_a_signal_of_its_own(tmp_path: Path) -> None:
    for name, weight in (("both", 1.0), ("alone", 0.0)):
        config = make_run(tmp_path / name, signal="step_index") / "config.toml"
        config.write_text(config.read_text() + f"[judge]\nprocess_weight = {weight}\n")
    signals = [read_run(tmp_path / name).signal for name in ("both", "alone")]
    assert signals == ["step_index", "step_index, outcome only"]


def test_runs_without_scores_cannot_be_compared(tmp_path: Path) -> None:
    writer = MetricsWriter(tmp_path / "run")
    writer.update({"version": 1, "loss": 0.5})
    writer.close()
    with pytest.raises(UserError, match="none of these runs holds scores"):
        plot_runs([tmp_path / "run"], out=tmp_path / "out")
