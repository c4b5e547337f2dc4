"""Files in SWE-bench's own formats: what the model predicted, and the instances, for the official harness.

The harness takes one prediction an instance, so each further sample of the tasks has a file of its own.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from claw_envs.core.endpoints import is_endpoint
from claw_envs.core.episode import Status
from claw_envs.core.task import Task
from claw_envs.swe.instance import instance_of
from evals.results import EpisodeResult
from trainers.policies.engines.addresses import is_engine


def predictions_file(folder: Path, sample_index: int) -> Path:
    """Where the predictions of a sample are written: `predictions.jsonl`, `predictions-2.jsonl`, …"""
    return folder / ("predictions.jsonl" if sample_index == 0 else f"predictions-{sample_index + 1}.jsonl")


def write_predictions(folder: Path, model: str, results: Sequence[EpisodeResult]) -> None:
    """Write what `results` predict, each file in one step. Aborted episodes predict nothing, an empty patch does.

    Args:
        folder: of the results.
        model: as `claw eval` takes it.
        results: of this benchmark.
    """
    for index in sorted({result.sample_index for result in results}):
        rows = [
            {
                "instance_id": result.task_id,
                "model_name_or_path": model_name(model),
                "model_patch": result.report.get("patch") or "",
            }
            for result in results
            if result.sample_index == index and result.status is not Status.ABORTED
        ]
        _write_lines(predictions_file(folder, index), rows)


def read_predictions(file: Path) -> list[dict[str, str]]:
    """The rows of a predictions file."""
    return [json.loads(line) for line in file.read_text(encoding="ascii").split("\n") if line]


def write_instances(file: Path, tasks: Iterable[Task]) -> None:
    """Write the instances of `tasks` as the rows of a data set that the harness takes."""
    _write_lines(file, (instance_of(task).row() for task in tasks))


def model_name(model: str) -> str:
    """What a model is called in predictions: what stands behind a server's URL, or its local name or path."""
    served = is_endpoint(model) or is_engine(model)
    return model.partition("#")[2] if served else model


def _write_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """JSON lines in ASCII alone: readers split lines at every character that Unicode calls a line's end."""
    new = file.with_name(file.name + ".new")
    new.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
    new.replace(file)
