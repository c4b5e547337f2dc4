"""Episodes in a real browser: the built-in applications, and what a person's mistake or a page's does to them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.tasksets import load_tasks
from claw_envs.gui.env import GuiEnv
from evals.gui.experts.page import Target, read_page

from ..alike import differences

FEASIBLE = "shop/towels-to-basket"


@pytest.fixture(scope="module")
def env(chromium: None) -> Iterator[GuiEnv]:
    env = GuiEnv()
    yield env
    env.close()


def infeasible() -> str:
    return next(task.id for task in load_tasks("gui") if not task.metadata["feasible"])


def begin(env: GuiEnv, task: str) -> dict[str, Any]:
    return env.reset(seed=0, options={"task": task})[1]


def id_of(env: GuiEnv, role: str, name: str) -> str:
    found = read_page(env.last_observation.text).find(Target(role, name))
    assert found is not None, env.last_observation.text
    return found.id


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def test_a_search_changes_what_is_seen(env: GuiEnv) -> None:
    begin(env, FEASIBLE)
    first = env.last_observation
    assert first.url == "http://shop.test/"
    env.step(call("fill", id=id_of(env, "searchbox", "Search products"), text="towel"))
    filled = env.last_observation
    assert filled.text.startswith("[ok]\n")
    assert '"Search products" = "towel"' in filled.text
    observation, reward, *_, info = env.step(call("click", id=id_of(env, "button", "Search")))
    assert "towel" in observation["url"]
    assert observation["axtree"] in observation["text"]
    assert (reward, info["status"]) == (0.0, "RUNNING")
    assert first.screenshot is not None
    assert differences(first.screenshot, observation["screenshot"])


def test_the_same_by_pixels(env: GuiEnv) -> None:
    begin(env, FEASIBLE)
    box = next(node.box for node in read_page(env.last_observation.text).nodes if node.name == "Account")
    assert box is not None
    middle = [box[0] + box[2] // 2, box[1] + box[3] // 2]
    env.step(call("computer_use", action="left_click", coordinate=middle))
    assert "account" in (env.last_observation.url or "")


def test_an_element_that_is_not_there(env: GuiEnv) -> None:
    begin(env, FEASIBLE)
    *_, info = env.step(call("click", id="9999"))
    assert env.last_observation.text.startswith("[error: ")
    assert "9999" in env.last_observation.text.splitlines()[0]
    assert info["status"] == "RUNNING"


def test_giving_up_what_cannot_be_done_is_right(env: GuiEnv) -> None:
    begin(env, infeasible())
    _, reward, terminated, _, info = env.step(call("fail", reason="there is no such thing"))
    assert (reward, terminated) == (1.0, True)
    assert (info["report"]["success"], info["report"]["ending"]) == (True, "fail")


@pytest.mark.parametrize("message", ["done()", 'answer("it cannot be done")'])
def test_anything_else_is_not(env: GuiEnv, message: str) -> None:
    begin(env, infeasible())
    _, reward, *_, info = env.step(message)
    assert (reward, info["report"]["success"]) == (-1.0, False)


@pytest.mark.parametrize("message", ["FAIL because", '<tool_call>{"name": "fail"', "fail(", "```\nFAIL", ""])
def test_what_cannot_be_read_never_solves_what_cannot_be_done(chromium: None, message: str) -> None:
    env = GuiEnv(max_steps=2)
    begin(env, infeasible())
    env.step(message)
    assert env.last_observation.role == "environment"
    _, reward, _, truncated, info = env.step(message)
    assert (reward, truncated) == (-1.0, True)
    assert (info["report"]["success"], info["report"]["ending"]) == (False, "limit")
    env.close()


def test_giving_up_what_can_be_done_is_wrong(env: GuiEnv) -> None:
    begin(env, FEASIBLE)
    assert env.step("fail()")[1] == -1.0


def test_one_episode_leaves_nothing_to_the_next(env: GuiEnv) -> None:
    begin(env, FEASIBLE)
    first = env.last_observation
    env.step(call("fill", id=id_of(env, "searchbox", "Search products"), text="towel"))
    begin(env, FEASIBLE)
    again = env.last_observation
    assert differences(again, first) == []


def test_seeds_make_pages_of_miniwob(chromium: None) -> None:
    env = GuiEnv("miniwob/click-button", size=(320, 240))
    texts = []
    for seed in (1, 2, 1):
        env.reset(seed=seed)
        texts.append(env.last_observation.text)
    assert texts[0] == texts[2] != texts[1]
    assert env.task.instruction.startswith("Click on")
    env.close()


def test_a_miniwob_page_ends_by_itself(chromium: None, tmp_path: Path) -> None:
    env = GuiEnv("miniwob/click-test", size=(320, 240), record=tmp_path)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(call("click", id=id_of(env, "button", "Click Me!")))
    assert (reward, terminated, info["report"]["ending"]) == (1.0, True, "page")
    assert Path(info["report"]["recording"]).stat().st_size > 1000
    env.close()
