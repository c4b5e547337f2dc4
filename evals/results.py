"""The one result format: a JSONL line an episode. What they amount to is `evals.summary`'s business."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.codec import from_json, to_json
from claw_envs.core.episode import Episode, Message, Observation, Status
from claw_envs.core.errors import UserError
from claw_envs.core.images import image_part, jpeg, with_part
from evals.metrics import mean

THUMBNAIL = 480
"""Width in pixels of the screenshots that are kept with results."""


class EpisodeResult(msgspec.Struct, kw_only=True):
    """One line of `episodes.jsonl`.

    Attributes:
        sample_index: 0-based position among the samples of the task.
        seed: the episode's own.
        score: the benchmark's; None for an aborted episode.
        metrics: further figures by name.
        ending: what became of it, in the benchmark's own words (`wrong fix`); empty where it has none.
        report: the environment's own, such as the patch and the tests that failed.
        transcript: the conversation as chat messages, the last next state included.
        attempts: how often the episode was begun; above 1 where infrastructure failed.
        wall_s: seconds of the last attempt.
        error: why it was aborted; on a screen also that the model's context was full.
    """

    task_id: str
    sample_index: int
    seed: int
    status: Status
    score: float | None = None
    metrics: dict[str, float] = {}
    ending: str = ""
    report: dict[str, Any] = {}
    transcript: list[Message] = []
    attempts: int = 1
    wall_s: float = 0.0
    error: str | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Which episode of the benchmark this is."""
        return self.task_id, self.sample_index


def transcript(episode: Episode) -> list[Message]:
    """The conversation of `episode`: the first prompt, then every response and the next state after it.

    Screenshots are in it as image parts, narrowed to some ten kilobytes each.
    """
    messages: list[Message] = []
    for turn in episode.turns:
        if not messages:
            messages = _with_thumbnail(turn.messages, turn.opening)
        calls = {"tool_calls": turn.tool_calls} if turn.tool_calls else {}
        messages.append({"role": "assistant", "content": turn.response, **calls})
        if turn.observation is not None:
            messages += _with_thumbnail(turn.observation.messages(), turn.observation)
    return messages


def _with_thumbnail(messages: Sequence[Message], observation: Observation | None) -> list[Message]:
    if observation is None or observation.screenshot is None:
        return list(messages)
    part = image_part(jpeg(observation.screenshot, width=THUMBNAIL), "jpeg")
    return [*messages[:-1], *with_part(messages[-1], part)]


def by_task(results: Sequence[EpisodeResult]) -> dict[str, list[EpisodeResult]]:
    """The scored results, grouped by task."""
    groups: dict[str, list[EpisodeResult]] = {}
    for result in results:
        if result.status is not Status.ABORTED and result.score is not None:
            groups.setdefault(result.task_id, []).append(result)
    return groups


def mean_metrics(results: Sequence[EpisodeResult]) -> dict[str, float]:
    """Mean of every metric over the scored results that have it."""
    values: dict[str, list[float]] = {}
    for group in by_task(results).values():
        for result in group:
            for name, value in result.metrics.items():
                values.setdefault(name, []).append(value)
    return {name: mean(each) for name, each in values.items()}


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, replacing the file in one step."""
    new = path.with_name(path.name + ".new")
    new.write_bytes(msgspec.json.format(to_json(value), indent=2) + b"\n")
    new.replace(path)


def read_results(path: Path) -> dict[tuple[str, int], EpisodeResult]:
    """The results of an `episodes.jsonl` by their keys, of each episode the last. A line that is not whole is left out.

    Raises:
        UserError: if there is no such file, or a line before the last is not a result.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: no results there ({error.strerror})") from error
    results: dict[tuple[str, int], EpisodeResult] = {}
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):
        try:
            result = from_json(line, EpisodeResult)
        except msgspec.DecodeError as error:
            raise UserError(f"{path}, line {number}: not a result; choose another folder ({error})") from error
        results[result.key] = result
    return results


class ResultFile:
    """`episodes.jsonl`: appended as episodes end, read on resuming. A last line that a crash tore is dropped."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            UserError: if a line before the last is not a result.
        """
        self.path = path
        with open(path, "ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
        self.results = read_results(path)

    def add(self, result: EpisodeResult) -> None:
        """Append one result; a later result of the same episode replaces the earlier."""
        self.results[result.key] = result
        with open(self.path, "ab") as file:
            file.write(to_json(result) + b"\n")
