"""A run's figures: two CSV files (one row an update, one row an evaluation) and the same as TensorBoard scalars.

The CSV files are the record that `claw plot` and `--resume` read. TensorBoard is written with its own writer, without
torch. What the figures are is the trainer's business; every row needs a `version`.
"""

import csv
import io
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path

METRICS, SCORES = "metrics.csv", "scores.csv"


class MetricsWriter:
    """Appends rows to `metrics.csv` and `scores.csv` of a run and mirrors them to `tensorboard/`.

    A file's columns keep their order for ever; a figure that appears later becomes a further column at the right, and
    a missing figure is an empty cell. A row that a killed process left half written is dropped on opening.
    """

    def __init__(self, directory: str | Path) -> None:
        """
        Args:
            directory: the run's folder; made where it does not exist.
        """
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._tables = {name: _Table(self.directory / name) for name in (METRICS, SCORES)}
        self._board = _Board(self.directory / "tensorboard")

    def update(self, row: Mapping[str, float]) -> None:
        """Append the figures of one update."""
        self._tables[METRICS].append(row)
        self._board.scalars("train", row)

    def score(self, row: Mapping[str, float]) -> None:
        """Append the figures of one evaluation."""
        self._tables[SCORES].append(row)
        self._board.scalars("eval", row)

    def rewind(self, version: int) -> None:
        """Drop every row whose version is greater than `version`, as a run does that resumes from a checkpoint.

        Each file is replaced in one step: a crash leaves either the old or the new one.
        """
        for table in self._tables.values():
            table.rewind(version)
        self._board.purge(version + 1)

    def latest(self) -> dict[str, float]:
        """The figures of the last update there is a row of; empty before the first."""
        rows = self._tables[METRICS].rows()
        return {name: float(cell) for name, cell in rows[-1].items() if cell} if rows else {}

    def scored(self, version: int) -> bool:
        """Whether there is an evaluation of `version`."""
        return any(float(row["version"]) == version for row in self._tables[SCORES].rows())

    def close(self) -> None:
        """Flush and close; may be called again."""
        self._board.close()


class _Table:
    """One CSV file of floats."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._drop_torn_row()
        with open(path, newline="") as file:
            self.columns = next(csv.reader(file), [])

    def append(self, row: Mapping[str, float]) -> None:
        if "version" not in row:
            raise ValueError(f"a row of {self.path.name} needs a version, got {', '.join(row)}")
        if new := [name for name in row if name not in self.columns]:
            rows = self.rows()
            self.columns += new
            self._replace(rows)
        with open(self.path, "a", newline="") as file:
            file.write(self._text([{name: _cell(value) for name, value in row.items()}]))

    def rewind(self, version: int) -> None:
        rows = self.rows()
        kept = [row for row in rows if float(row["version"]) <= version]
        if len(kept) < len(rows):
            self._replace(kept)

    def rows(self) -> list[dict[str, str]]:
        with open(self.path, newline="") as file:
            return list(csv.DictReader(file))

    def _text(self, rows: list[dict[str, str]], *, header: bool = False) -> str:
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, self.columns, restval="", lineterminator="\n")
        if header:
            writer.writeheader()
        writer.writerows(rows)
        return buffer.getvalue()

    def _replace(self, rows: list[dict[str, str]]) -> None:
        new = self.path.with_suffix(".new")
        with open(new, "w", newline="") as file:
            file.write(self._text(rows, header=True))
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path)

    def _drop_torn_row(self) -> None:
        with open(self.path, "ab+") as file:
            file.seek(0)
            data = file.read()
            file.truncate(data.rfind(b"\n") + 1)


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.8g}"


class _Board:
    """One TensorBoard event file."""

    def __init__(self, directory: Path) -> None:
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._writer = EventFileWriter(str(directory))

    def scalars(self, prefix: str, row: Mapping[str, float]) -> None:
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [
            Summary.Value(tag=f"{prefix}/{name}", simple_value=float(value))
            for name, value in row.items()
            if name != "version" and not math.isnan(value)
        ]
        self._add(step=int(row["version"]), summary=Summary(value=values))
        self._writer.flush()

    def purge(self, step: int) -> None:
        """Tell TensorBoard to forget what earlier files hold from `step` on."""
        from tensorboard.compat.proto.event_pb2 import SessionLog

        self._add(step=step, session_log=SessionLog(status=SessionLog.START))

    def close(self) -> None:
        self._writer.close()

    def _add(self, **fields: object) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        self._writer.add_event(Event(wall_time=time.time(), **fields))
