"""The result format: what enters a mean, which interval, what a torn file leaves."""

from pathlib import Path

import pytest

from claw_envs.core.episode import Answer, Episode, Observation, Status, Turn
from claw_envs.core.errors import UserError
from evals.results import EpisodeResult, ResultFile, summarise, transcript


def result(task: str, index: int = 0, score: float | None = 1.0, **fields: object) -> EpisodeResult:
    status = Status.ABORTED if score is None else Status.COMPLETED
    return EpisodeResult(task_id=task, sample_index=index, seed=0, score=score, **({"status": status} | fields))


def test_binary_scores_of_single_samples_get_a_wilson_interval() -> None:
    summary = summarise([result(f"t{i}", score=float(i < 5)) for i in range(10)], benchmark="b")
    assert (summary.score, summary.n, summary.tasks, summary.interval) == (0.5, 10, 10, "wilson")
    assert (summary.low, summary.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert summary.pass_at_k == {1: 0.5}


def test_every_task_weighs_the_same_and_aborted_episodes_only_count() -> None:
    results = [
        result("a", 0, 1.0),
        result("a", 1, 0.0),
        result("b", 0, 1.0),
        result("b", 1, None),
        result("c", 0, None),
    ]
    summary = summarise(results, benchmark="b")
    assert (summary.score, summary.n, summary.tasks) == (0.75, 3, 2)
    assert summary.statuses == {"COMPLETED": 3, "ABORTED": 2}
    assert summary.interval == "bootstrap over tasks"
    assert summary.pass_at_k == {1: 0.75, 2: 1.0}  # of two samples only task a has both


def test_graded_scores_have_no_pass_at_k() -> None:
    summary = summarise([result("a", score=0.25), result("b", score=0.75)], benchmark="b")
    assert (summary.score, summary.pass_at_k, summary.interval) == (0.5, {}, "bootstrap over tasks")


def test_metrics_are_means_over_the_episodes_that_have_them() -> None:
    results = [
        result("a", metrics={"words": 10, "nll": 1.0}),
        result("b", metrics={"words": 20}),
        result("c", score=None),
    ]
    assert summarise(results, benchmark="b").metrics == {"words": 15.0, "nll": 1.0}


def test_nothing_scored_is_not_a_zero() -> None:
    summary = summarise([result("a", score=None)], benchmark="b")
    assert (summary.score, summary.low, summary.high, summary.n) == (None, None, None, 0)


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
