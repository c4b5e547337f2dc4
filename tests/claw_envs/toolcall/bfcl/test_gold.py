"""BFCL's right answers are found right and those with a mistake wrong, driven through `gym.make` step by step.

Mistakes are made in each tenth task here; `python -m claw_envs.toolcall.bfcl gold` makes them in all of every category.
"""

import subprocess
import sys

import pytest

from claw_envs.toolcall.bfcl.gold import MISTAKES, gold, java, javascript
from claw_envs.toolcall.bfcl.replay import count_gold, count_mistakes
from claw_envs.wire.calls import Call

from .sample import task, tasks_of

PROVEN = [
    ("simple_python", 400, 400),
    ("multiple", 200, 200),
    ("parallel", 200, 200),
    ("parallel_multiple", 200, 200),
    ("simple_java", 90, 100),  # see docs/bfcl.md
    ("simple_javascript", 50, 50),
    ("live_simple", 256, 258),  # in two answers an argument that is required has no value
    ("live_parallel", 16, 16),
    ("live_parallel_multiple", 24, 24),
    ("live_relevance", 16, 16),
    ("irrelevance", 240, 240),
    ("multi_turn_base", 200, 200),
]
WITH_CALLS = [category for category, _, _ in PROVEN if "relevance" not in category]


@pytest.mark.usefixtures("checker")
@pytest.mark.parametrize(("category", "right", "total"), PROVEN, ids=[category for category, _, _ in PROVEN])
def test_right_answers_are_found_right(category: str, right: int, total: int) -> None:
    count = count_gold(category, tasks_of(category))
    assert (count.right, count.total) == (right, total), count.others


@pytest.mark.usefixtures("checker")
@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("category", WITH_CALLS)
def test_answers_with_a_mistake_are_found_wrong(category: str, mistake: str) -> None:
    some = tasks_of(category)[::10]
    assert count_mistakes(category, some, mistake).others == []


@pytest.mark.usefixtures("checker")
@pytest.mark.parametrize("category", ["multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"])
def test_right_answers_of_other_conversations_are_found_right(category: str) -> None:
    assert count_gold(category, tasks_of(category)[::10]).others == []


@pytest.mark.usefixtures("checker")
def test_an_answer_of_several_turns_has_every_argument_by_its_name() -> None:
    turns = gold("multi_turn_base", [task("multi_turn_base_0")])["multi_turn_base_0"]
    assert turns[2] == [Call("sort", {"file_name": "final_report.pdf"})]


def test_values_as_java_source() -> None:
    of_texts = {"type": "Array", "items": {"type": "String"}}
    assert java("mapController", {"type": "any"}) == "mapController"
    assert java(True, {"type": "boolean"}) == "true"
    assert java(42, {"type": "long"}) == "42L"
    assert java(0.5, {"type": "float"}) == "0.5f"
    assert java(["-v", "-p"], of_texts) == 'new String[]{"-v", "-p"}'
    assert java([1, 2], {"type": "ArrayList", "items": {"type": "integer"}}) == (
        "new ArrayList<Integer>(Arrays.asList(1, 2))"
    )
    assert java({"limit": 50, "filter": "public"}, {"type": "HashMap"}) == (
        'new HashMap<String, Object>() {{ put("limit", 50); put("filter", "public"); }}'
    )


def test_values_as_javascript_source() -> None:
    assert javascript(12, {"type": "Bigint"}) == "12n"
    assert javascript(False, {"type": "Boolean"}) == "false"
    assert javascript(["a", 1], {"type": "array"}) == '["a", 1]'
    assert javascript({"key": [True]}, {"type": "dict"}) == '{"key": [true]}'


@pytest.mark.usefixtures("checker")
def test_the_table() -> None:
    argv = [sys.executable, "-m", "claw_envs.toolcall.bfcl", "gold", "live_parallel", "live_relevance", "--ids"]
    done = subprocess.run(argv, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert rows == [["live_parallel", *["16/16"] * 4], ["live_relevance", "16/16"]], done.stderr


def test_the_table_of_no_such_category_is_refused_in_one_line() -> None:
    argv = [sys.executable, "-m", "claw_envs.toolcall.bfcl", "gold", "simple"]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: no BFCL category 'simple'; there are: simple_python, ")
    assert done.stderr.count("\n") == 1
