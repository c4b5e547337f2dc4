"""BrowserGym's `openended` environment, a process an episode, as its synchronous Playwright wants.

`shipped`: with its own delays (a second of slow motion, half a second before it looks). `fast`: both 0. `parts`: both
0, and its raw observation, of which its own functions make the parts that are asked for. The tree is made into text as
its agents do. A reset starts its two browsers anew, as it always does. The processes are forked from this one, so that
imports are in no figure, and shared in memory. Its chat takes no path of a browser, so Playwright is told it for both.
"""

import multiprocessing
from functools import partialmethod
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import Any, NamedTuple

from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.core.env import BrowserEnv
from browsergym.core.observation import _post_extract as unmark
from browsergym.core.observation import _pre_extract as mark
from browsergym.core.observation import extract_merged_axtree, extract_screenshot
from browsergym.core.task import OpenEndedTask
from browsergym.utils.obs import flatten_axtree_to_str
from playwright.sync_api import BrowserType

PACKAGES = ["browsergym-core", "playwright"]
_NO_DELAYS = {"slow_mo": 0, "pre_observation_delay": 0.0}
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "shipped": {},
    "fast": _NO_DELAYS,
    "parts": _NO_DELAYS | {"use_raw_page_output": True},
}


def make(kind: str, settings: dict[str, Any]) -> "BrowserGym":
    """The contestant `kind`."""
    return BrowserGym(kind, settings)


class Episode(NamedTuple):
    """A process, and the way to it."""

    process: ForkProcess
    connection: Connection


class BrowserGym:
    """See the module. Plain functions, each called from a thread."""

    def __init__(self, kind: str, settings: dict[str, Any]) -> None:
        self._kind, self._settings = kind, settings
        self._context = multiprocessing.get_context("fork")

    def start(self) -> Episode:
        """A process whose environment is reset."""
        here, there = self._context.Pipe()
        process = self._context.Process(target=work, args=(there, self._kind, self._settings), daemon=True)
        process.start()
        there.close()
        return self.reset(Episode(process, here))

    def step(self, episode: Episode, command: str) -> str:
        """A click and what is seen."""
        return "" if command == "capture" else _ask(episode, command)

    def reset(self, episode: Episode) -> Episode:
        """The next episode."""
        _ask(episode, "reset")
        return episode

    def stop(self, episode: Episode) -> None:
        """Close the environment and end the process."""
        _ask(episode, "close")
        episode.process.join()

    def containers(self) -> list[str]:
        """None."""
        return []


def _ask(episode: Episode, what: str) -> str:
    episode.connection.send(what)
    answer = episode.connection.recv()
    if isinstance(answer, Exception):
        raise answer
    return str(answer)


def work(connection: Connection, kind: str, settings: dict[str, Any]) -> None:
    """In the episode's process: one environment, and what is asked of it until it is closed."""
    launch = partialmethod(BrowserType.launch, executable_path=settings["executable"])
    setattr(BrowserType, "launch", launch)  # noqa: B010 - a method of another signature
    actions = HighLevelActionSet(subsets=["coord"])
    env = BrowserEnv(
        OpenEndedTask,
        task_kwargs={"start_url": settings["address"], "goal": "Count."},
        action_mapping=actions.to_python_code,
        **_ARGUMENTS[kind],
    )
    x, y = settings["point"]
    what = ""
    while what != "close":
        what = connection.recv()
        try:
            if what in ("reset", "close"):
                getattr(env, what)(*([0] if what == "reset" else []))
                connection.send("")
            else:
                seen, *_ = env.step(f"mouse_click({x}, {y})")
                connection.send(_shown(env, seen, what))
        except Exception as error:
            connection.send(error)


def _shown(env: BrowserEnv, seen: dict[str, Any], what: str) -> str:
    """The page's title, and how much of each part there is."""
    title = seen["open_pages_titles"][0]
    if "axtree_object" in seen:
        text = flatten_axtree_to_str(seen["axtree_object"], extra_properties=seen["extra_element_properties"])
        return f"{title} pixels={seen['screenshot'].size} characters={len(text)}"
    pixels = characters = 0
    if what in ("screenshot", "both"):
        pixels = extract_screenshot(env.page).size
    if what in ("axtree", "both"):
        mark(env.page)
        characters = len(flatten_axtree_to_str(extract_merged_axtree(env.page)))
        unmark(env.page)
    return f"{title} pixels={pixels} characters={characters}"
