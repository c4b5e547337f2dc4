"""The leaderboard's way of putting its categories together."""

import pytest

from claw_envs.core.episode import Status
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task, VerifierSpec
from claw_envs.toolcall.bfcl.tasks import CATEGORIES
from evals.results import EpisodeResult
from evals.summary import Share, summarise
from evals.toolcall.bfcl import SECTIONS, BfclOptions, category_weights


def task(number: int, category: str) -> Task:
    return Task(
        id=f"{category}-{number}",
        family="toolcall",
        instruction="",
        verifier=VerifierSpec(kind="bfcl"),
        metadata={"category": category},
    )


def test_categories_weigh_as_on_the_leaderboard() -> None:
    weights = category_weights({category: 10 for section in SECTIONS.values() for category in section})
    assert weights["simple_python"] == weights["simple_java"] == pytest.approx(10 / 4 / 3)
    assert weights["multiple"] == weights["parallel"] == pytest.approx(10 / 4)
    assert weights["irrelevance"] == weights["live_irrelevance"] == pytest.approx(10 / 2)
    assert weights["multi_turn_base"] == pytest.approx(30 / 4)
    assert weights["live_relevance"] == 0
    assert sum(weights.values()) == pytest.approx(10 + 10 + 10 + 30)


def test_live_tasks_weigh_the_same_one_by_one() -> None:
    weights = category_weights({"live_simple": 258, "live_parallel": 16})
    assert weights == pytest.approx({"live_simple": 10 * 258 / 274, "live_parallel": 10 * 16 / 274})


def test_what_was_not_run_is_left_out() -> None:
    weights = category_weights({"simple_python": 400, "multiple": 200})
    assert weights == pytest.approx({"simple_python": 5.0, "multiple": 5.0})


@pytest.mark.parametrize("right", [True, False])
def test_all_right_is_1_and_nothing_right_0(right: bool) -> None:
    tasks = [task(number, category) for section in SECTIONS.values() for category in section for number in range(3)]
    results = [
        EpisodeResult(task_id=each.id, sample_index=0, seed=0, status=Status.COMPLETED, score=float(right))
        for each in tasks
    ]
    summary = summarise(results, benchmark="bfcl", shares=BfclOptions().shares(tasks))
    assert summary.score == float(right)
    assert summary.low is not None
    assert summary.high is not None
    assert summary.high - summary.low == pytest.approx(0.1, abs=0.05)


def test_the_limit_is_of_each_category() -> None:
    tasks = [task(number, category) for category in ("multiple", "parallel") for number in range(3)]
    options = BfclOptions(limit=2)
    chosen = options.chosen(tasks)
    assert [each.id for each in chosen] == ["multiple-0", "multiple-1", "parallel-0", "parallel-1"]
    assert options.shares(chosen)["multiple-0"] == Share("multiple", 5.0)
    assert options.labels(chosen[-1]) == {"section": "non_live", "category": "parallel"}


def test_categories_and_sets_of_them_are_named_with_commas() -> None:
    sources = BfclOptions(categories="multi_turn_base, multi_turn,parallel").sources()
    assert sources == [f"bfcl:{each}" for each in (*SECTIONS["multi_turn"], "parallel")]
    with pytest.raises(UserError, match="no BFCL category 'sql'; there are: simple_python, multiple"):
        BfclOptions(categories="multiple,sql").sources()


def test_every_category_there_is_weighs_something_known() -> None:
    assert sorted(CATEGORIES) == sorted(category for section in SECTIONS.values() for category in section)


def test_tasks_of_something_else_are_refused() -> None:
    with pytest.raises(UserError, match="task x-0 is of no category of bfcl"):
        BfclOptions().chosen([task(0, "x")])
