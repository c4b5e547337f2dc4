"""The record of a run: stable columns, torn rows, rewinding, and the same figures in TensorBoard."""

import csv
from pathlib import Path

import pytest

from trainers.metrics import MetricsWriter


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_rows_are_appended_with_stable_columns(tmp_path: Path) -> None:
    writer = MetricsWriter(tmp_path)
    writer.update({"version": 1, "loss": 0.5, "tokens": 12_345_678})
    writer.update({"loss": 0.25, "version": 2, "kl": float("nan")})
    writer.close()
    lines = (tmp_path / "metrics.csv").read_text().splitlines()
    assert lines == ["version,loss,tokens,kl", "1,0.5,12345678,", "2,0.25,,nan"]


def test_a_reopened_run_goes_on_and_drops_a_torn_row(tmp_path: Path) -> None:
    writer = MetricsWriter(tmp_path)
    writer.score({"version": 0, "score": 0.25})
    writer.close()
    with open(tmp_path / "scores.csv", "a") as file:
        file.write("8,0.")
    writer = MetricsWriter(tmp_path)
    writer.score({"score": 0.75, "version": 8})
    writer.close()
    assert rows(tmp_path / "scores.csv") == [{"version": "0", "score": "0.25"}, {"version": "8", "score": "0.75"}]


def test_rewind_drops_later_rows_only(tmp_path: Path) -> None:
    writer = MetricsWriter(tmp_path)
    for version in range(1, 6):
        writer.update({"version": version, "loss": 1 / version})
        writer.score({"version": version, "score": 0.1 * version})
    writer.rewind(3)
    writer.update({"version": 4, "loss": 9.0})
    writer.close()
    assert [(row["version"], row["loss"]) for row in rows(tmp_path / "metrics.csv")][2:] == [
        ("3", "0.33333333"),
        ("4", "9"),
    ]
    assert [row["version"] for row in rows(tmp_path / "scores.csv")] == ["1", "2", "3"]
    assert not list(tmp_path.glob("*.new"))


def test_rewind_of_an_empty_run_does_nothing(tmp_path: Path) -> None:
    writer = MetricsWriter(tmp_path)
    writer.rewind(0)
    writer.close()
    assert (tmp_path / "metrics.csv").read_text() == ""


def test_a_row_without_a_version_is_a_bug(tmp_path: Path) -> None:
    writer = MetricsWriter(tmp_path)
    with pytest.raises(ValueError, match="version"):
        writer.update({"loss": 1.0})
    writer.close()


def test_tensorboard_shows_the_figures_and_forgets_what_was_rewound(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    writer = MetricsWriter(tmp_path)
    for version in (1, 2, 3):
        writer.update({"version": version, "kl": 0.5 * version, "entropy": float("nan")})
    writer.rewind(1)
    writer.update({"version": 2, "kl": 7.0})
    writer.score({"version": 2, "score": 0.75})
    writer.close()
    board = EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    assert [(event.step, event.value) for event in board.Scalars("train/kl")] == [(1, 0.5), (2, 7.0)]
    assert [(event.step, event.value) for event in board.Scalars("eval/score")] == [(2, 0.75)]
    assert "train/entropy" not in board.Tags()["scalars"]
