"""Tables that a person reads."""

from claw_envs.core.episode import Status
from evals.results import EpisodeResult
from evals.summary import Difference, Official, summarise
from evals.table import table


def result(task: str, index: int, score: float | None, **metrics: float) -> EpisodeResult:
    status = Status.ABORTED if score is None else Status.COMPLETED
    return EpisodeResult(task_id=task, sample_index=index, seed=0, status=status, score=score, metrics=metrics)


def test_a_table_without_a_score_says_so() -> None:
    assert table(summarise([result("a", 0, None)], benchmark="b", model="m")).splitlines()[:3] == [
        "b · m",
        "  episodes  1 (1 ABORTED)",
        "  score     none: nothing could be scored",
    ]


def test_a_score_of_single_samples_is_called_so() -> None:
    lines = table(summarise([result("a", 0, 1.0), result("b", 0, 0.0)], benchmark="b")).splitlines()
    assert lines[2] == "  score     0.500 [0.095, 0.905] 95 %, wilson"
    assert "pass@" not in "".join(lines)


def test_groups_have_a_row_each() -> None:
    results = [
        result("a", 0, 1.0, steps=2.0, calls=1.0),
        result("a", 1, 0.0, steps=4.0, calls=3.0),
        result("b", 0, 0.0, steps=1.0, calls=0.0),
        result("b", 1, 0.0, steps=1.0, calls=0.0),
        result("c", 0, None),
        result("c", 1, None),
    ]
    results[3].status = Status.TRUNCATED
    labels = {"a": {"year": "2024"}, "b": {"year": "2025"}, "c": {"year": "2026"}}
    lines = table(summarise(results, benchmark="aime", model="m", labels=labels)).splitlines()
    assert lines[:4] == [
        "aime · m",
        "  episodes  6 (2 ABORTED, 3 COMPLETED, 1 TRUNCATED)",
        "  avg@2     0.250 [0.000, 0.500] 95 %, bootstrap over tasks",
        "  pass@2    0.500 [0.095, 0.905]",
    ]
    assert lines[-4:] == [
        "  year  tasks                 avg@2                pass@2  steps  calls  truncated  aborted",
        "  2024      1  0.500 [0.500, 0.500]  1.000 [0.207, 1.000]    3.0    2.0          0        0",
        "  2025      1  0.000 [0.000, 0.793]  0.000 [0.000, 0.793]    1.0    0.0          1        0",
        "  2026      0                     -                     -      -      -          0        2",
    ]


def test_endings_are_counted_with_the_aborted_and_only_where_there_are_some() -> None:
    results = [result("a", 0, 1.0), result("b", 0, 0.0), result("c", 0, 0.0), result("d", 0, None)]
    assert "ending" not in table(summarise(results, benchmark="b"))
    for each, ending in zip(results, ("resolved", "wrong fix", "wrong fix", ""), strict=True):
        each.ending = ending
    summary = summarise(results, benchmark="b")
    assert summary.endings == {"wrong fix": 2, "resolved": 1, "aborted": 1}
    assert table(summary).splitlines()[-4:] == [
        "  ending     episodes",
        "  wrong fix         2",
        "  resolved          1",
        "  aborted           1",
    ]


def test_official_verdicts_and_where_they_differ() -> None:
    summary = summarise([result("a", 0, 1.0)], benchmark="b")
    differs = Difference(task_id="a", sample_index=1, ours="resolved", official="error")
    summary.official = Official(program="harness", n=4, resolved=2, agree=3, differences=[differs])
    assert table(summary).splitlines()[-2:] == [
        "  harness: 2 of 4 solved; 3 of 4 verdicts as ours",
        "    a/1: ours resolved, official error",
    ]
