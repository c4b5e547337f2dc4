"""The built-in web tasks are sound: their solutions solve them, and less or more than that does not."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.gui import acts
from claw_envs.gui.env import GuiEnv
from claw_envs.gui.webapps.app import read_app
from claw_envs.gui.webapps.goal import goal_of
from claw_envs.gui.webapps.store import Store, merged
from evals.gui.experts.grammar import read_line
from evals.gui.experts.page import read_page
from evals.gui.experts.policy import call, message

verify = pytest.importorskip("claw_envs.gui.webapps.verify", reason="needs jmespath", exc_type=ImportError).verify

TASKS = load_tasks("gui")
DAMAGE = {
    "shop": [
        'goto "http://shop.test/#/account"',
        'click checkbox "Send me the newsletter"',
        'click button "Save profile"',
    ],
    "mail": ['goto "http://mail.test/#/message/m20"', 'click button "☆ Star"'],
    "calendar": ['click checkbox "Family"'],
    "table": ['goto "http://table.test/#/sheet/s2"', 'click gridcell "A2 Rent"', "press delete"],
}
"""What nobody asked for, by application."""


@pytest.fixture(scope="module")
def env(chromium: None) -> Iterator[GuiEnv]:
    env = GuiEnv(TASKS, observe=("axtree",), max_steps=50)
    yield env
    env.close()


def play(env: GuiEnv, task: Task, lines: Sequence[str]) -> tuple[float, dict[str, Any]]:
    """Reward and report of an episode; lines whose element is not there are passed over."""

    async def played() -> tuple[float, dict[str, Any]]:
        await env.areset(seed=0, options={"task": task.id})
        for line in lines:
            action = call(read_line(line), read_page(env.last_observation.text))
            if action is not None:
                _, reward, ended, _, info = await env.astep(message(action))
                if ended:
                    return reward, info["report"]
        raise AssertionError("the lines do not end the episode")

    return asyncio.run(played())


def is_work(task: Task) -> bool:
    """Whether something has to be done, and not only found out."""
    return bool(task.metadata["feasible"]) and not task.verifier.options["answer"]


MOST_LEFT_OUT = 4
"""Lines of a solution that are left out in turn; they lie evenly in it."""

each = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
each_work = pytest.mark.parametrize("task", list(filter(is_work, TASKS)), ids=lambda task: task.id)


@each
def test_the_solution_solves_it(env: GuiEnv, task: Task) -> None:
    reward, report = play(env, task, task.metadata["solution"])
    assert reward == 1.0, report
    assert report["score"] == 1.0


@each
def test_doing_nothing_does_not(env: GuiEnv, task: Task) -> None:
    assert play(env, task, ["done"])[0] == -1.0
    assert play(env, task, ["fail"])[0] == (-1.0 if task.metadata["feasible"] else 1.0)
    assert play(env, task, ['answer "I do not know"'])[0] == -1.0


@each
def test_more_than_was_asked_for_does_not(env: GuiEnv, task: Task) -> None:
    *lines, ending = task.metadata["solution"]
    assert play(env, task, [*lines, *DAMAGE[task.metadata["domain"]], ending])[0] == -1.0


@each_work
def test_no_line_can_be_left_out(env: GuiEnv, task: Task) -> None:
    lines = task.metadata["solution"]
    last = len(lines) - 2  # before the one that ends the episode
    tried = sorted({round(last * part / (MOST_LEFT_OUT - 1)) for part in range(MOST_LEFT_OUT)})
    needless = [lines[at] for at in tried if play(env, task, [*lines[:at], *lines[at + 1 :]])[0] != -1.0]
    assert needless == []


SHARES = {"E2": 1.0, "E3": 1.2556, "E4": 0.8, "E5": 0.4, "E6": 0.9238, "E7": 0.9256}


def verdict(task_id: str, ending: acts.Ending, **changed: Any) -> bool:
    """Whether a task is solved by its application's first state with objects laid over it."""
    (task,) = (task for task in TASKS if task.id == task_id)
    goal = goal_of(task)
    store = Store(read_app(str(task.folder())), goal.state)
    return bool(verify(goal, store.initial, merged(store.initial, changed), ending)["success"])


@pytest.mark.parametrize("by_formula", [True, False])
def test_numbers_that_were_typed_are_no_formulas(by_formula: bool) -> None:
    shares: dict[str, Any] = {
        cell: {"raw": f"=C{cell[1]}/B{cell[1]}" if by_formula else f"={share}", "format": "percent"}
        for cell, share in SHARES.items()
    }
    sheet = {"s2": {"cells": {"E1": {"raw": "Used"}, **shares}}}
    assert verdict("table/share-spent", acts.Done(), sheets=sheet, values={"s2": SHARES}) is by_formula
    sheet = {"s1": {"cells": {"H14": {"raw": "=SUM(H2:H13)" if by_formula else "=11579"}}}}
    assert verdict("table/total-revenue", acts.Done(), sheets=sheet, values={"s1": {"H14": 11579}}) is by_formula


def test_messages_may_be_read_before_giving_up() -> None:
    assert verdict("mail/unsend-invoice", acts.Fail(), messages={"m02": {"read": True}})
    assert not verdict("mail/unsend-invoice", acts.Fail(), messages={"m02": {"folder": "trash"}})
    assert not verdict("mail/unsend-invoice", acts.Done(), messages={"m02": {"read": True}})


@pytest.mark.parametrize("repeat", ["none", "weekly"])
def test_one_event_is_not_a_series(repeat: str) -> None:
    guests = [{"email": "helen@castellanos-partners.example", "answer": "pending"}]
    tomas = {"email": "tomas.lindqvist@brightwater.example", "answer": "yes"}
    event = {"title": "Budget check", "date": "2026-03-19", "start": "12:00", "end": "12:45", "repeat": repeat}
    events = {"e10": {"guests": [*guests, tomas]}, "e23": event | {"guests": [tomas]}}
    assert verdict("calendar/after-the-figures", acts.Done(), events=events) is (repeat == "none")


def test_the_seed_changes_nothing(env: GuiEnv) -> None:
    texts = {str(env.reset(seed=seed, options={"task": "mail/hotel-code"})[0]["text"]) for seed in (0, 1)}
    assert len(texts) == 1
