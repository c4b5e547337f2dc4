"""What episodes amount to: what enters a mean, which interval, what a group and a part weigh."""

import pytest

from claw_envs.core.codec import from_json, to_json
from claw_envs.core.episode import Status
from evals.metrics import wilson_interval
from evals.results import EpisodeResult
from evals.summary import Share, Summary, summarise


def result(task: str, index: int = 0, score: float | None = 1.0, **fields: object) -> EpisodeResult:
    status = Status.ABORTED if score is None else Status.COMPLETED
    return EpisodeResult(task_id=task, sample_index=index, seed=0, score=score, **({"status": status} | fields))


def values(summary: Summary) -> dict[str, float]:
    return {name: estimate.value for name, estimate in summary.at_k.items()}


def test_binary_scores_of_single_samples_get_a_wilson_interval() -> None:
    summary = summarise([result(f"t{i}", score=float(i < 5)) for i in range(10)], benchmark="b")
    assert (summary.score, summary.n, summary.tasks, summary.interval) == (0.5, 10, 10, "wilson")
    assert (summary.low, summary.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert values(summary) == {"avg@1": 0.5, "pass@1": 0.5}
    assert {(each.low, each.high, each.interval) for each in summary.at_k.values()} == {
        (summary.low, summary.high, "wilson")
    }


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
    assert values(summary) == {"avg@2": 0.75, "pass@1": 0.75, "pass@2": 1.0}
    assert [each.tasks for each in summary.at_k.values()] == [2, 2, 1]  # of two samples only task a has both


def test_avg_and_every_pass_at_k_have_an_interval_over_tasks() -> None:
    results = [result(f"t{task}", index, float(index < task)) for task in range(11) for index in range(10)]
    summary = summarise(results, benchmark="b")
    assert list(summary.at_k) == ["avg@10", "pass@1", "pass@2", "pass@4", "pass@8", "pass@10"]
    assert summary.at_k["avg@10"].value == summary.score == pytest.approx(0.5)
    assert summary.at_k["pass@1"] == summary.at_k["avg@10"]
    assert summary.at_k["pass@2"].value == pytest.approx(sum(1 - (10 - c) * (9 - c) / 90 for c in range(11)) / 11)
    assert summary.at_k["pass@10"].value == pytest.approx(10 / 11)
    for estimate in summary.at_k.values():
        assert estimate.low < estimate.value < estimate.high <= 1.0
        assert estimate.tasks == 11
    assert [each.interval for each in summary.at_k.values()] == ["bootstrap over tasks"] * 5 + ["wilson"]


def test_nothing_right_in_many_samples_is_not_certain_to_be_nothing() -> None:
    summary = summarise([result("a", index, 0.0) for index in range(4)], benchmark="b")
    assert (summary.score, summary.low, summary.interval) == (0.0, 0.0, "wilson")
    assert summary.high == pytest.approx(0.7935, abs=1e-4)  # one task, however often


def test_graded_scores_have_no_pass_at_k() -> None:
    summary = summarise([result("a", score=0.25), result("b", score=0.75)], benchmark="b")
    assert (summary.score, summary.at_k, summary.interval) == (0.5, {}, "bootstrap over tasks")


def test_metrics_are_means_over_the_episodes_that_have_them() -> None:
    results = [
        result("a", metrics={"words": 10, "nll": 1.0}),
        result("b", metrics={"words": 20}),
        result("c", score=None),
    ]
    assert summarise(results, benchmark="b").metrics == {"words": 15.0, "nll": 1.0}
    assert summarise(results, benchmark="b", metrics={"perplexity": 3.0}).metrics == {"perplexity": 3.0}


def test_nothing_scored_is_not_a_zero() -> None:
    summary = summarise([result("a", score=None)], benchmark="b", labels={"a": {"year": "2024"}})
    assert (summary.score, summary.low, summary.high, summary.n, summary.at_k) == (None, None, None, 0, {})
    assert summary.groups["year"]["2024"].statuses == {"ABORTED": 1}


def test_groups_have_figures_of_their_own() -> None:
    results = [
        result("a", score=1.0, metrics={"steps": 1.0}),
        result("b", score=0.0, metrics={"steps": 3.0}, status=Status.TRUNCATED),
        result("c", score=0.0, metrics={"steps": 5.0}),
        result("d", score=None),
    ]
    labels = {"a": {"level": "10", "kind": "x"}, "b": {"level": "9"}, "c": {"level": "9"}, "d": {"level": "hard"}}
    summary = summarise(results, benchmark="b", labels=labels)
    assert list(summary.groups["level"]) == ["9", "10", "hard"]
    nine = summary.groups["level"]["9"]
    assert (nine.score, nine.tasks, nine.metrics) == (0.0, 2, {"steps": 4.0})
    assert nine.statuses == {"TRUNCATED": 1, "COMPLETED": 1}
    assert summary.groups["level"]["hard"].statuses == {"ABORTED": 1}
    assert list(summary.groups["kind"]) == ["x"]
    assert from_json(to_json(summary), Summary) == summary


def test_parts_weigh_what_they_are_said_to_whatever_their_size() -> None:
    results = [result(f"x{i}", score=1.0) for i in range(9)] + [result("y", score=0.0)]
    shares = {f"x{i}": Share("x", 1.0) for i in range(9)} | {"y": Share("y", 3.0)}
    summary = summarise(results, benchmark="b", shares=shares)
    assert (summary.score, summary.tasks, summary.interval) == (0.25, 10, "wilson")
    size = 1 / ((1 / 4) ** 2 / 9 + (3 / 4) ** 2)
    assert (summary.low, summary.high) == pytest.approx(wilson_interval(0.25 * size, size))
    assert values(summary) == {"avg@1": 0.25, "pass@1": 0.25}


def test_a_part_that_weighs_nothing_counts_only_by_itself() -> None:
    results = [result("x", score=1.0), result("y", score=0.0)]
    shares = {"x": Share("x", 1.0), "y": Share("y", 0.0)}
    labels = {"x": {"part": "x"}, "y": {"part": "y"}}
    summary = summarise(results, benchmark="b", shares=shares, labels=labels)
    assert (summary.score, summary.at_k["avg@1"].tasks) == (1.0, 1)
    assert [group.score for group in summary.groups["part"].values()] == [1.0, 0.0]
