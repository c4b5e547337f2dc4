"""The one result format: a JSONL line an episode, and a summary in JSON. Figures are computed here, drawn elsewhere."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.codec import from_json, to_json
from claw_envs.core.episode import Episode, Message, Status
from claw_envs.core.errors import UserError
from evals.metrics import bootstrap_interval, mean, pass_at_k, wilson_interval


class EpisodeResult(msgspec.Struct, kw_only=True):
    """One line of `episodes.jsonl`.

    Attributes:
        sample_index: 0-based position among the samples of the task.
        seed: the episode's own.
        score: the benchmark's; None for an aborted episode.
        metrics: further figures by name.
        transcript: the conversation as chat messages, the last next state included.
        attempts: how often the episode was begun; above 1 where infrastructure failed.
        wall_s: seconds of the last attempt.
        error: why it was aborted.
    """

    task_id: str
    sample_index: int
    seed: int
    status: Status
    score: float | None = None
    metrics: dict[str, float] = {}
    transcript: list[Message] = []
    attempts: int = 1
    wall_s: float = 0.0
    error: str | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Which episode of the benchmark this is."""
        return self.task_id, self.sample_index


class Summary(msgspec.Struct, kw_only=True):
    """`summary.json`.

    Aborted episodes are counted in `statuses` and enter nothing else. A task's value is the mean over its samples, and
    the benchmark's is the mean over tasks, so that every task weighs the same.

    Attributes:
        n: scored episodes.
        tasks: tasks with at least one.
        score: mean score; None where nothing was scored.
        low, high: 95 % interval of `score`.
        interval: `wilson` (scores of 0 and 1, one sample a task) or `bootstrap over tasks`.
        statuses: episodes by status.
        metrics: further figures by name.
        pass_at_k: k -> pass@k over the tasks with at least k scored samples; empty unless scores are 0 and 1.
        wall_s: seconds of the call that wrote the summary.
        resumed: episodes taken over from earlier calls.
        settings: what was run.
    """

    benchmark: str
    model: str
    n: int
    tasks: int
    score: float | None
    low: float | None
    high: float | None
    interval: str
    statuses: dict[str, int]
    metrics: dict[str, float]
    pass_at_k: dict[int, float]
    wall_s: float = 0.0
    resumed: int = 0
    settings: dict[str, Any] = {}


def transcript(episode: Episode) -> list[Message]:
    """The conversation of `episode`: the first prompt, then every response and the next state after it."""
    messages = list(episode.turns[0].messages) if episode.turns else []
    for turn in episode.turns:
        calls = {"tool_calls": turn.tool_calls} if turn.tool_calls else {}
        messages.append({"role": "assistant", "content": turn.response, **calls})
        if turn.observation is not None:
            messages += turn.observation.messages()
    return messages


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


def summarise(
    results: Sequence[EpisodeResult],
    *,
    benchmark: str,
    model: str = "",
    metrics: Mapping[str, float] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Summary:
    """Compute the summary of `results`, one result an episode.

    Args:
        metrics: the benchmark's own figures; None takes the mean of every metric.
    """
    groups = by_task(results)
    scores = [[result.score for result in group if result.score is not None] for group in groups.values()]
    values = [mean(each) for each in scores]
    binary = all(score in (0.0, 1.0) for each in scores for score in each)
    single = all(len(each) == 1 for each in scores)
    interval = None
    if values:
        interval = wilson_interval(int(sum(values)), len(values)) if binary and single else bootstrap_interval(values)
    return Summary(
        benchmark=benchmark,
        model=model,
        n=sum(map(len, scores)),
        tasks=len(groups),
        score=mean(values) if values else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        interval="wilson" if binary and single else "bootstrap over tasks",
        statuses=dict(Counter(str(result.status) for result in results)),
        metrics=dict(mean_metrics(results) if metrics is None else metrics),
        pass_at_k=_pass_at(scores) if binary else {},
        settings=dict(settings or {}),
    )


def _pass_at(scores: Sequence[Sequence[float]]) -> dict[int, float]:
    found, k = {}, 1
    while eligible := [each for each in scores if len(each) >= k]:
        found[k] = mean([pass_at_k(len(each), int(sum(each)), k) for each in eligible])
        k *= 2
    return found


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, replacing the file in one step."""
    new = path.with_name(path.name + ".new")
    new.write_bytes(msgspec.json.format(to_json(value), indent=2) + b"\n")
    new.replace(path)


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
            data = file.read()
            whole = data.rfind(b"\n") + 1
            file.truncate(whole)
        self.results: dict[tuple[str, int], EpisodeResult] = {}
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                result = from_json(line, EpisodeResult)
            except msgspec.DecodeError as error:
                raise UserError(f"{path}, line {number}: not a result; choose another --out ({error})") from error
            self.results[result.key] = result

    def add(self, result: EpisodeResult) -> None:
        """Append one result; a later result of the same episode replaces the earlier."""
        self.results[result.key] = result
        with open(self.path, "ab") as file:
            file.write(to_json(result) + b"\n")
