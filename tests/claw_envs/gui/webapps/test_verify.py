"""The verdict: conditions, what may change, answers, and how an episode ended."""

from typing import Any

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task, VerifierSpec
from claw_envs.gui import acts
from claw_envs.gui.webapps.goal import Goal, goal_of

verify = pytest.importorskip("claw_envs.gui.webapps.verify", reason="needs jmespath", exc_type=ImportError).verify

BEFORE: dict[str, Any] = {
    "basket": {"lines": {}},
    "orders": {"o1": {"status": "Processing", "total": 20.5}, "o2": {"status": "Shipped", "total": 9}},
    "name": "Ann",
}


def goal(**fields: Any) -> Goal:
    return msgspec.convert(fields, Goal)


def changed(**parts: Any) -> dict[str, Any]:
    return {**BEFORE, **parts}


@pytest.mark.parametrize(
    ("condition", "ok"),
    [
        ({"path": "orders.o1.status", "equals": "Processing"}, True),
        ({"path": "orders.o1.status", "equals": "processing"}, False),
        ({"path": "orders.o1.status", "text": " processing "}, True),
        ({"path": "orders.o1.status", "matches": "^proc"}, True),
        ({"path": "orders.o1.status", "matches": "^ship"}, False),
        ({"path": "orders.o1.total", "near": 20.0, "within": 0.5}, True),
        ({"path": "orders.o1.total", "near": 20.0, "within": 0.4}, False),
        ({"path": "orders.o1.status", "near": 0}, False),
        ({"path": "orders", "count": 2}, True),
        ({"path": "values(orders)[?status=='Shipped']", "count": 1}, True),
        ({"path": "orders", "contains": "o2"}, True),
        ({"path": "values(orders)[].status", "contains": "Shipped"}, True),
        ({"path": "name", "contains": "AN"}, True),
        ({"path": "basket.lines", "absent": True}, True),
        ({"path": "orders.o3", "absent": True}, True),
        ({"path": "orders.o3", "absent": False}, False),
        ({"path": "orders.o3", "equals": None}, True),
        ({"path": "sort(orders.o3)", "absent": True}, False),
    ],
)
def test_a_condition(condition: dict[str, Any], ok: bool) -> None:
    report = verify(goal(expect=[condition]), BEFORE, BEFORE, acts.Done())
    assert report["success"] is ok
    assert report["score"] == float(ok)
    assert report["conditions"][0]["ok"] is ok


def test_every_condition_has_to_hold() -> None:
    wanted = goal(expect=[{"path": "name", "equals": "Ann"}, {"path": "name", "equals": "Bob"}])
    report = verify(wanted, BEFORE, BEFORE, acts.Done())
    assert not report["success"]
    assert [tried["ok"] for tried in report["conditions"]] == [True, False]


@pytest.mark.parametrize(
    ("allowed", "after", "unwanted"),
    [
        ([], changed(name="Bob"), ["name"]),
        (["name"], changed(name="Bob"), []),
        (["orders"], changed(orders={}), []),
        (["orders.o1"], changed(orders={"o2": BEFORE["orders"]["o2"]}), []),
        (["orders.o1.status"], changed(orders={"o2": BEFORE["orders"]["o2"]}), ["orders.o1"]),
        (["orders.*.status"], changed(orders={**BEFORE["orders"], "o2": {"status": "Lost", "total": 9}}), []),
        (["orders.*.status"], changed(orders={**BEFORE["orders"], "o2": {"status": "Shipped"}}), ["orders.o2.total"]),
        (["orders.+"], changed(orders={**BEFORE["orders"], "o3": {}}), []),
        (["orders.+"], changed(orders={**BEFORE["orders"], "o2": {}}), ["orders.o2.status", "orders.o2.total"]),
        (["orders.+"], changed(orders={}), ["orders.o1", "orders.o2"]),
        (["+"], changed(more=1), []),
    ],
)
def test_what_may_change(allowed: list[str], after: dict[str, Any], unwanted: list[str]) -> None:
    wanted = goal(expect=[{"path": "@", "absent": False}], changed=allowed)
    report = verify(wanted, BEFORE, after, acts.Done())
    assert report["unwanted"] == unwanted
    assert report["success"] is (not unwanted)


@pytest.mark.parametrize(
    ("answer", "given", "ok"),
    [
        ({"value": "Halden Floor Lamp"}, "halden floor lamp", True),
        ({"value": "Halden Floor Lamp"}, "Verso Floor Lamp", False),
        ({"value": 371, "kind": "numeric"}, "€371.00", True),
        ({"value": 371, "kind": "numeric"}, "It is 371.00 euros", True),
        ({"value": 371, "kind": "numeric"}, "372", False),
        ({"value": ["a", "b"], "kind": "set"}, "b, a", True),
        ({"value": ["a", "b"], "kind": "set"}, "b", False),
    ],
)
def test_an_answer(answer: dict[str, Any], given: str, ok: bool) -> None:
    report = verify(goal(answer=answer), BEFORE, BEFORE, acts.Answer(given))
    assert report["success"] is ok
    assert report["answer"]["given"] == given


def test_a_question_wants_an_answer() -> None:
    report = verify(goal(answer={"value": "yes"}), BEFORE, BEFORE, acts.Done())
    assert not report["success"]
    assert report["answer"] == {"given": None, "ok": False, "reason": "no answer"}


def test_a_right_answer_does_not_excuse_a_change() -> None:
    report = verify(goal(answer={"value": "yes"}), BEFORE, changed(name="Bob"), acts.Answer("yes"))
    assert not report["success"]


@pytest.mark.parametrize(
    ("feasible", "ending", "after", "success"),
    [
        (False, acts.Fail("no"), BEFORE, True),
        (False, acts.Fail("no"), changed(name="Bob"), False),
        (False, acts.Done(), BEFORE, False),
        (False, acts.Answer("infeasible"), BEFORE, False),
        (False, None, BEFORE, False),
        (True, acts.Fail("no"), BEFORE, False),
        (True, acts.Done(), BEFORE, True),
        (True, acts.Answer("done"), BEFORE, True),
        (True, None, BEFORE, True),
    ],
)
def test_how_it_ended(feasible: bool, ending: acts.Ending | None, after: dict[str, Any], success: bool) -> None:
    wanted = goal(feasible=feasible, expect=[{"path": "name", "equals": "Ann"}] if feasible else [])
    report = verify(wanted, BEFORE, after, ending)
    assert report["success"] is success
    assert report["ending"] == ("limit" if ending is None else type(ending).__name__.lower())


def test_a_task_whose_options_are_no_goal() -> None:
    task = Task(id="x", family="gui", instruction="", verifier=VerifierSpec(kind="webapp", options={"expected": []}))
    with pytest.raises(UserError, match="expected"):
        goal_of(task)
