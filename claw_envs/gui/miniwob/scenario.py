"""One episode of a MiniWoB++ page: started from a seed, ended and scored by the page itself.

The score is the page's own raw reward, from -1 to 1, of which no wall-clock takes anything away, as its original's
timer does. An episode that the page did not end, by a limit or because the agent said that it was done, scores -1, as
when the original's timer runs out; so does one whose page was left or loaded anew. Success is a reward above 0, as
BrowserGym counts it; pages that give part of a reward for part of the work make that weaker than a reward of 1.
"""

import math
from typing import Any

from claw_envs.core.env import Outcome
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from claw_envs.gui.browser.errors import PageError, UnansweredError
from claw_envs.gui.browser.screen import BrowserScreen
from claw_envs.gui.miniwob import pages
from claw_envs.gui.scenario import Said

_LOAD_ICONS = r"""() => {
  const addresses = sheet => [...sheet.cssRules].flatMap(rule => [...rule.cssText.matchAll(/url\("([^"]+)"\)/g)])
    .map(found => new URL(found[1], sheet.href ?? location.href).href);
  core.icons = [...document.styleSheets].flatMap(addresses).map(src => Object.assign(new Image(), {src}));
  return Promise.allSettled(core.icons.map(icon => icon.decode())).then(() => core.icons.length);
}"""
"""Icons that a style sheet names have their size at once then, whenever they come up."""

_START = """seed => {
  const hidden = document.createElement("style");
  hidden.textContent = "#reward-display, #click-canvas, #sync-task-cover { display: none !important }";
  document.head.append(hidden);
  core.EPISODE_MAX_TIME = 2 ** 31 - 1;
  core.countdownTimer = () => {};
  Math.seedrandom(seed);
  core.startEpisodeReal();
  core.startEpisode = () => {};
  core.started = true;
  const said = core.getUtterance();
  return typeof said === "string" ? said : said.utterance;
}"""
"""Begins the episode and gives its instruction. The page's own counters stay hidden, its timer is as long as a timer
can be, and once it has ended nothing begins another episode, which a second click of a double click would."""

_STATE = """() => {
  if (typeof core === "undefined" || !core.started) return null;
  return {done: WOB_DONE_GLOBAL, reward: WOB_RAW_REWARD_GLOBAL, reason: String(WOB_REWARD_REASON ?? "")};
}"""
"""What the page says of its episode; null where it is no longer the page that was started."""


_PAGE = (332, 214)
"""Pixels of the window that the pages were made for; the page itself is the left half of it."""


class MiniwobScenario:
    """One page in a browser's tab."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    async def prepare(self, task: Task, *, seed: int) -> str:
        """See `Scenario.prepare`."""
        await self._screen.open(task, page=_PAGE)
        await self._screen.serve(pages.HOST, pages.serve)
        await self._screen.visit(pages.address(str(task.metadata["page"])))
        try:
            await self._screen.evaluate(_LOAD_ICONS)
            return str(await self._screen.evaluate(_START, str(seed)))
        except PageError as error:
            await self.close()
            raise InfrastructureError(f"{task.id} does not start: {error}") from None

    async def ended(self) -> bool:
        """Whether the page gave its reward, or was left."""
        state = await self._state()
        return state is None or bool(state["done"])

    async def verify(self, said: Said) -> Outcome:
        """The page's own reward."""
        state = await self._state()
        ended = state is not None and bool(state["done"])
        reward = float(state["reward"]) if state is not None and ended else -1.0
        if not math.isfinite(reward):  # some pages divide by zero
            reward = -1.0
        reason = "the page was left" if state is None else state["reason"]
        report = {"success": reward > 0, "score": reward, "reward": reward, "reason": reason}
        return Outcome(reward, report)

    async def close(self) -> None:
        """Let the screen go."""
        await self._screen.close()

    async def _state(self) -> dict[str, Any] | None:
        """What the page says; None where it was left.

        Raises:
            InfrastructureError: if it does not answer, which no page of these does by itself.
        """
        try:
            state: dict[str, Any] | None = await self._screen.evaluate(_STATE)
        except UnansweredError as error:
            raise InfrastructureError(str(error)) from None
        except PageError:
            return None
        return state
