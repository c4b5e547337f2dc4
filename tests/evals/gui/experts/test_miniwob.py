"""The experts of MiniWoB++ solve their pages, whatever the seed, by the observation's text alone."""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest

from claw_envs.gui.env import GuiEnv
from claw_envs.gui.miniwob.loader import load
from evals.gui.experts.miniwob.policy import EXPERTS, MiniwobExpert
from evals.gui.experts.page import read_page
from evals.gui.experts.play import Part, Played, play_all
from evals.gui.experts.policy import Stuck
from evals.gui.experts.random_agent import RandomAgent

pytestmark = pytest.mark.usefixtures("chromium")

SEEDS = range(5)
PARALLEL = 5
DRAWN = "click-test-2", "click-checkboxes", "enter-text", "email-inbox", "use-slider", "drag-box"


def play(pages: Sequence[str], seeds: Sequence[int], who: str = "expert") -> list[Played]:
    tasks = load(f"miniwob/{','.join(pages)}")
    players = {
        "expert": lambda task, seed: MiniwobExpert.for_task(task),
        "random": lambda task, seed: RandomAgent(seed),
    }
    parts = [Part(task, seed, who) for task in tasks for seed in seeds]
    make_env = partial(GuiEnv, tasks, observe=("axtree",), coordinates="pixels")
    return asyncio.run(play_all(make_env, parts, players, parallel=PARALLEL))


@pytest.mark.parametrize("page", sorted(EXPERTS))
def test_the_expert_solves_its_page_at_every_seed(page: str) -> None:
    played = play([page], SEEDS)
    assert len(played) == len(SEEDS)
    assert [(each.part.seed, each.why) for each in played if not each.solved] == []


def test_most_pages_have_an_expert() -> None:
    assert len(EXPERTS) >= 100


def test_a_random_agent_solves_few() -> None:
    played = play(DRAWN, [0, 1], "random")
    assert sum(each.solved for each in played) <= len(played) / 2


def test_an_expert_that_finds_nothing_says_where_it_is_stuck() -> None:
    expert = MiniwobExpert("click-button")
    with pytest.raises(Stuck, match="Next"):
        expert.act(
            read_page('Click on the "Next" button.\n\nURL: http://miniwob.test/\n[1] button "Previous" (1,1,9,9)')
        )


def test_an_expert_that_has_done_all_is_stuck_where_the_page_goes_on() -> None:
    expert = MiniwobExpert("click-test")
    page = read_page('Click the button.\n\nURL: http://miniwob.test/\n[1] button "Click Me!" (1,1,9,9)')
    assert '"id": "1"' in expert.act(page)
    with pytest.raises(Stuck, match="has not ended"):
        expert.act(page)
