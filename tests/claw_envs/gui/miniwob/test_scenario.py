"""Episodes of MiniWoB++ pages: what a seed fixes, what ends them, what they score, and that no short cut pays."""

import asyncio
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import pytest

from claw_envs.core.env import Outcome
from claw_envs.core.task import Task
from claw_envs.gui import acts
from claw_envs.gui.browser import BrowserScreen
from claw_envs.gui.env import GuiEnv
from claw_envs.gui.miniwob.loader import load
from claw_envs.gui.miniwob.scenario import MiniwobScenario
from claw_envs.gui.scenario import Said
from claw_envs.gui.screen import Element, Parts
from claw_envs.wire import Call, write
from evals.gui.experts.page import Page, read_page

pytestmark = pytest.mark.usefixtures("chromium")

MOVING = {
    *("chase-circle", "click-pie", "drag-cube", "hover-shape", "moving-items", "simon-says", "stock-market"),
    "terminal",
}
"""Pages that move by themselves, so that two looks differ."""
WORKERS = 4


class Opened(NamedTuple):
    """A page as it stands at the beginning of an episode."""

    instruction: str
    elements: tuple[Element, ...]


async def open_all(tasks: list[Task], seed: int) -> dict[str, Opened]:
    """Every page by its name, opened with a seed."""
    waiting, opened = deque(tasks), dict[str, Opened]()

    async def worker() -> None:
        screen = BrowserScreen()
        scenario = MiniwobScenario(screen)
        while waiting:
            task = waiting.popleft()
            instruction = await scenario.prepare(task, seed=seed)
            assert not await scenario.ended()
            view = await screen.look(Parts(screenshot=False))
            opened[task.metadata["page"]] = Opened(instruction, tuple(view.elements or ()))
        await scenario.close()

    await asyncio.gather(*(worker() for _ in range(WORKERS)))
    return opened


@pytest.fixture(scope="module")
def all_pages() -> tuple[dict[str, Opened], dict[str, Opened]]:
    """All pages, opened twice with the same seed."""
    return asyncio.run(open_all(load(), 3)), asyncio.run(open_all(load(), 3))


def test_a_seed_gives_the_same_page(all_pages: tuple[dict[str, Opened], dict[str, Opened]]) -> None:
    first, again = all_pages
    assert len(first) == 130
    assert {page: seen.instruction for page, seen in first.items()} == {
        page: seen.instruction for page, seen in again.items()
    }
    assert [page for page in first.keys() - MOVING if first[page].elements != again[page].elements] == []


def test_pages_begin_with_their_request_and_without_their_own_counters(
    all_pages: tuple[dict[str, Opened], dict[str, Opened]],
) -> None:
    for page, seen in all_pages[0].items():
        assert seen.instruction, page
        assert seen.instruction != "undefined", page
        names = {element.name for element in seen.elements}
        assert names, page
        assert not names & {"START", "Last reward:", "Time left:"}, page


def test_another_seed_gives_another_page() -> None:
    chosen = load("miniwob/click-button,email-inbox,use-slider,book-flight")
    first, other = asyncio.run(open_all(chosen, 1)), asyncio.run(open_all(chosen, 2))
    assert all(first[page] != other[page] for page in first)


def test_requests_in_free_words_and_in_any_script() -> None:
    opened = asyncio.run(open_all(load("miniwob/email-inbox-nl-turk,unicode-test"), 3))
    assert opened["email-inbox-nl-turk"].instruction == "Please forward Effie's email to Bari."
    assert opened["unicode-test"].instruction == 'Click on the "ヘルプ" button.'


@pytest.fixture(scope="module")
def env(chromium: None) -> Iterator[GuiEnv]:
    made = gym.make(
        "claw/gui-v0",
        tasks="miniwob/click-test,click-test-2,find-greatest,click-checkboxes-large,enter-text",
        observe=("axtree",),
        disable_env_checker=True,
    )
    yield made.unwrapped  # type: ignore[misc]  # the environment of the id
    made.close()


class Episode:
    """One episode, played by tool calls."""

    def __init__(self, env: GuiEnv, page: str, seed: int = 0) -> None:
        self.env = env
        self.seen, self.info = env.reset(seed=seed, options={"task": f"miniwob/{page}"})
        self.reward, self.ended = 0.0, False

    @property
    def page(self) -> Page:
        return read_page(self.seen["text"])

    def id_of(self, name: str) -> str:
        return next(node.id for node in self.page.nodes if node.name == name)

    def act(self, *calls: Call) -> None:
        self.seen, self.reward, terminated, truncated, self.info = self.env.step(write(calls, "hermes"))
        self.ended = terminated or truncated

    @property
    def report(self) -> dict[str, Any]:
        return dict(self.info["report"])


def click(episode: Episode, name: str, **more: Any) -> Call:
    return Call("click", {"id": episode.id_of(name), **more})


def test_the_right_click_ends_the_episode_with_the_pages_reward(env: GuiEnv) -> None:
    episode = Episode(env, "click-test-2")
    assert episode.seen["text"].startswith("Click button ONE.\n\n")
    episode.act(click(episode, "ONE"))
    assert (episode.ended, episode.reward, episode.info["status"]) == (True, 1.0, "COMPLETED")
    assert episode.report["success"]
    assert episode.report["score"] == 1.0
    assert episode.report["ending"] == "page"


def test_the_wrong_one_too(env: GuiEnv) -> None:
    episode = Episode(env, "click-test-2")
    episode.act(click(episode, "TWO"))
    assert (episode.ended, episode.reward) == (True, -1.0)
    assert not episode.report["success"]
    assert episode.report["ending"] == "page"


def test_what_ended_does_not_begin_again(env: GuiEnv) -> None:
    """The second click of a double click meets the page's cover, which would start another episode."""
    episode = Episode(env, "click-test-2")
    episode.act(click(episode, "TWO", double=True), click(episode, "ONE"))
    assert (episode.ended, episode.reward) == (True, -1.0)


def test_part_of_a_reward_counts_as_success(env: GuiEnv) -> None:
    episode = Episode(env, "find-greatest")
    cards = [node for node in episode.page.nodes if node.role == "generic"]
    least = min(cards, key=lambda card: int(card.name))
    episode.act(Call("click", {"id": least.id}), click(episode, "Submit"))
    assert episode.reward == pytest.approx(0.1)
    assert episode.report["success"]


@pytest.mark.parametrize("ending", ["done", "fail", "answer"])
def test_saying_that_it_is_done_does_not_make_it_so(env: GuiEnv, ending: str) -> None:
    episode = Episode(env, "click-test")
    episode.act(Call(ending, {"answer": {"text": "1"}}.get(ending, {})))
    assert (episode.ended, episode.reward, episode.report["ending"]) == (True, -1.0, ending)
    assert not episode.report["success"]


def test_a_limit_scores_as_the_original_does_when_time_is_over() -> None:
    with GuiEnv("miniwob/click-test", observe=("axtree",), max_steps=2) as env:
        episode = Episode(env, "click-test")
        episode.act(Call("wait", {"seconds": 0}))
        assert not episode.ended
        episode.act(Call("press", {"keys": ["tab"]}))
        assert (episode.info["status"], episode.reward, episode.report["ending"]) == ("TRUNCATED", -1.0, "limit")


@pytest.mark.parametrize(
    "leaving",
    [
        Call("goto", {"url": "about:blank"}),
        Call("goto", {"url": "http://miniwob.test/miniwob/click-test.html"}),
        Call("reload", {}),
        Call("new_tab", {}),
        Call("close_tab", {}),
    ],
    ids=["blank", "the same page", "reload", "new tab", "close tab"],
)
def test_a_page_that_is_left_is_lost(env: GuiEnv, leaving: Call) -> None:
    episode = Episode(env, "click-test")
    episode.act(leaving)
    assert (episode.ended, episode.reward) == (True, -1.0)
    assert episode.report == {
        "ending": "page", "success": False, "score": -1.0, "reward": -1.0, "reason": "the page was left",
    }  # fmt: skip


@pytest.mark.parametrize(
    "url",
    [
        "javascript:core.endEpisode(1)",
        "JaVaScRiPt:core.endEpisode(1)",
        "data:text/html,<script>opener</script>",
        "view-source:http://miniwob.test/miniwob/click-test.html",
        "http://other.test/",
        "file:///etc/passwd",
    ],
)
def test_no_address_gives_a_reward(env: GuiEnv, url: str) -> None:
    episode = Episode(env, "click-test-2")
    episode.act(Call("goto", {"url": url}))
    assert episode.reward <= 0.0
    if not episode.ended:  # the address was refused, and the page is as it was
        assert "error" in episode.seen["text"].splitlines()[0]
        episode.act(click(episode, "TWO"))
    assert episode.reward == -1.0


def test_only_the_page_says_when_it_is_over() -> None:
    """Its timer is as long as a timer can be, and no part of a reward is taken away for time that went by."""

    async def played() -> tuple[int, Outcome]:
        screen = BrowserScreen()
        scenario = MiniwobScenario(screen)
        (task,) = load("miniwob/enter-text")
        word = (await scenario.prepare(task, seed=0)).split('"')[1]
        limit = await screen.evaluate("core.EPISODE_MAX_TIME")
        await screen.evaluate("core.ept0 -= 1e9")
        view = await screen.look(Parts(screenshot=False))
        field, button = (element for element in view.elements or () if element.role in ("textbox", "button"))
        assert await screen.do(acts.Fill(field.id, word), timeout=30.0) is None
        assert await screen.do(acts.ClickElement(button.id), timeout=30.0) is None
        assert await scenario.ended()
        outcome = await scenario.verify(Said(None))
        await scenario.close()
        return limit, outcome

    limit, outcome = asyncio.run(played())
    assert limit == 2**31 - 1
    assert outcome.score == outcome.report["reward"] == 1.0


def test_the_page_fills_the_screenshot_as_far_as_it_can() -> None:
    with GuiEnv("miniwob/click-test-2", size=(1280, 720), coordinates="pixels") as env:
        episode = Episode(env, "click-test-2")
        image = episode.seen["screenshot"]
        assert image.shape == (720, 1280, 3)
        assert image[150, 500].tolist() == [255, 255, 0]  # what it asks for stands on yellow
        x, y, width, height = next(node.box for node in episode.page.nodes if node.name == "ONE") or (0, 0, 0, 0)
        assert width == pytest.approx(40 * 80 / 24, abs=1)
        episode.act(Call("computer_use", {"action": "left_click", "coordinate": [x + 3, y + height - 3]}))
        assert episode.reward == 1.0
