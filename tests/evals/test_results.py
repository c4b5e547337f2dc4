"""The result format: what enters a mean, which interval, what a torn file leaves."""

from pathlib import Path

import pytest

from claw_envs.core.episode import Answer, Episode, Observation, Status, Turn
from claw_envs.core.errors import UserError
from evals.results import EpisodeResult, ResultFile, transcript


def result(task: str, index: int = 0, score: float | None = 1.0, **fields: object) -> EpisodeResult:
    status = Status.ABORTED if score is None else Status.COMPLETED
    return EpisodeResult(task_id=task, sample_index=index, seed=0, score=score, **({"status": status} | fields))


def test_results_survive_and_the_later_of_two_counts(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    file = ResultFile(path)
    said = [{"role": "user", "content": "a\u2028b\r\nc"}]
    file.add(result("a", score=None, error="sandbox lost"))
    file.add(result("a", score=0.5, transcript=said))
    with open(path, "ab") as torn:
        torn.write(b'{"task_id": "b", "sam')
    again = ResultFile(path)
    assert list(again.results) == [("a", 0)]
    assert again.results["a", 0].score == 0.5
    assert again.results["a", 0].transcript == said
    again.add(result("c"))
    assert list(ResultFile(path).results) == [("a", 0), ("c", 0)]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "episodes.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(UserError, match=r"episodes\.jsonl, line 1: not a result"):
        ResultFile(tmp_path / "episodes.jsonl")


def test_the_transcript_holds_every_message_once() -> None:
    prompt = [{"role": "user", "content": "q"}]
    first = Turn(
        episode_id="e", step=0, messages=prompt, response="r", observation=Observation(role="user", text="more")
    )
    history = [*prompt, {"role": "assistant", "content": "r"}, {"role": "user", "content": "more"}]
    second = Turn(episode_id="e", step=1, messages=history, response="s")
    episode = Episode(id="e", task_id="t", family="chat", turns=[first, second])
    assert [message["content"] for message in transcript(episode)] == ["q", "r", "more", "s"]
    assert transcript(Episode(id="e", task_id="t", family="chat")) == []


def test_the_transcript_holds_each_answer() -> None:
    answered = Observation(role="tool", text="both", answers=[Answer("a", "one"), Answer("b", "two")])
    turn = Turn(episode_id="e", step=0, messages=[], response="r", observation=answered)
    messages = transcript(Episode(id="e", task_id="t", family="terminal", turns=[turn]))
    assert [(message["role"], message["content"]) for message in messages] == [
        ("assistant", "r"),
        ("tool", "one"),
        ("tool", "two"),
    ]
