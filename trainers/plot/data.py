"""Reads what a run left: its config and the two CSV files, as columns. Also how several runs are put together."""

import csv
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.errors import UserError
from trainers.metrics import METRICS, SCORES

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes:
        path: its directory.
        config: `config.toml`, empty where there is none.
        updates: `metrics.csv` by column; NaN where a row has no value.
        scores: `scores.csv` by column.
    """

    path: Path
    config: dict[str, Any]
    updates: dict[str, Column]
    scores: dict[str, Column]

    @property
    def name(self) -> str:
        """Of the directory."""
        return self.path.resolve().name

    @property
    def signal(self) -> str:
        """Where the advantages come from, as the config has it; `none` for a run without an update."""
        if not self.updates:
            return "none"
        signal = str(self.config.get("signal", "unknown"))
        alone = signal == "step_index" and self.config.get("judge", {}).get("process_weight") == 0
        return f"{signal}, outcome only" if alone else signal


def read_run(path: Path) -> Run:
    """Read the run in `path`.

    Raises:
        UserError: if it is no directory, a file cannot be read, or there is not one row yet.
    """
    if not path.is_dir():
        raise UserError(f"{path}: no such run directory; `claw train FAMILY --run DIR` makes one")
    updates, scores = _columns(path / METRICS), _columns(path / SCORES)
    if not updates and not scores:
        raise UserError(f"{path}: nothing to draw yet, {METRICS} and {SCORES} hold no row")
    return Run(path, _config(path / "config.toml"), updates, scores)


def by_signal(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs grouped by signal, untrained ones first, then in the order given."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.signal, []).append(run)
    return {signal: groups[signal] for signal in sorted(groups, key=lambda each: each != "none")}


def over_seeds(runs: Sequence[Run], column: str) -> tuple[Column, Column]:
    """A column of `scores.csv` over the runs of one signal.

    Returns:
        versions of shape (V,), those that every run with the column has, and values of shape (runs, V). Averaging over
        other versions would let the mean jump where a run has ended early.
    """
    tables = [
        dict(zip(run.scores["version"].tolist(), run.scores[column].tolist(), strict=True))
        for run in runs
        if column in run.scores
    ]
    if not tables:
        return np.empty(0), np.empty((0, 0))
    shared = sorted(set.intersection(*(set(table) for table in tables)))
    return np.array(shared), np.array([[table[version] for version in shared] for table in tables])


def _columns(path: Path) -> dict[str, Column]:
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file)) or [[]]
    rows = [row for row in rows if len(row) == len(header)]  # the last row may be half written
    if not rows:
        return {}
    try:
        table = np.array([[float(cell or "nan") for cell in row] for row in rows])
    except ValueError as error:
        raise UserError(f"{path}: not a table of numbers ({error})") from error
    if "version" not in header:
        raise UserError(f"{path}: has no column `version`")
    return {name: table[:, i] for i, name in enumerate(header)}


def _config(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML ({error})") from error
