"""OSWorld's own layout of results, so that its scripts read ours.

`osworld/<action space>/<observation>/<model>/<domain>/<task>/result.txt` holds one number: the mean over the samples.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.gui.options import OsworldOptions
from evals.metrics import mean
from evals.results import EpisodeResult, by_task

FOLDER = "osworld"


def write_official(
    folder: Path,
    model: str,
    results: Sequence[EpisodeResult],
    options: OsworldOptions,
    labels: Mapping[str, Mapping[str, str]],
) -> None:
    """Write a `result.txt` for each task that was scored.

    Args:
        folder: of the results.
        model: as `claw eval` takes it.
        labels: by a task's id; its `domain` names a folder.
    """
    top = folder / FOLDER / (options.actions or "elements") / _observation(options) / _plain(model)
    for task_id, group in by_task(results).items():
        place = top / _plain(labels[task_id]["domain"]) / _plain(task_id)
        place.mkdir(parents=True, exist_ok=True)
        score = mean([result.score for result in group if result.score is not None])
        (place / "result.txt").write_text(f"{score}\n")


def _observation(options: OsworldOptions) -> str:
    """As OSWorld names what the agent is shown."""
    tree = options.observe is None or "axtree" in options.observe
    if not options.images:
        return "a11y_tree"
    return "screenshot_a11y_tree" if tree else "screenshot"


def _plain(text: str) -> str:
    """As one part of a path."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "-"
