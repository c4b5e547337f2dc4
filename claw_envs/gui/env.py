"""`claw/gui-v0`: an agent that uses a computer: a browser, a desktop, or one of OSWorld's machines.

The observation after an action is one header line for what was done, what can be seen now, and how many turns are left:

    [ok]
    URL: http://shop.test/cart
    Title: Cart
    Focused: [7] textbox "Coupon"
    [1] heading "Your cart" (40,60,300,30)
    [7] textbox "Coupon" (40,210,200,28) focused
    [8] button "Pay" (40,300,90,32)
    [14 turns left]

The header of an action that could not be carried out is `[error: …]`, that of one whose time ran out is
`[stopped after 30 s]`. Where a message held several calls each has its own, `[1/2 click | ok]`, OpenAI calls are
answered one by one in `Observation.answers`, and what can be seen stands in the last. Calls are carried out in order,
up to the first that fails. A message that cannot be read costs a step, is answered by the environment, and changes
nothing. The form of a message is the business of `claw_envs.gui.actions`, what is right that of the task's scenario.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import msgspec
import numpy as np
from numpy.typing import NDArray

from claw_envs.core.env import MAX_TEXT, Action, ClawEnv, Outcome, Step
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.results import Asked, shown, with_text
from claw_envs.core.spaces import Unicode
from claw_envs.core.task import Task
from claw_envs.core.vector import ClawVectorEnv
from claw_envs.gui.acting import Carried, carry_out
from claw_envs.gui.actions import Coordinates, Frame, Parsed, Space, parse, prompt
from claw_envs.gui.acts import Ending, ScreenAct
from claw_envs.gui.backends import Stage, open_stage, place_of, playable
from claw_envs.gui.options import Backend, Options, check_words, observed, size_of, warn_of_blindness
from claw_envs.gui.recording import Recorder
from claw_envs.gui.scenario import Said, name_of
from claw_envs.gui.screen import Parts, View
from claw_envs.gui.words import turns_left, valid, view_text
from claw_envs.sandbox.pool import SandboxPool

MAX_URL = 10_000
CONTEXT_FULL = "the model's context was full"


class GuiEnv(ClawEnv):
    """A screen; see the module for the observation's text.

    The observation has `role`, `text`, `url` (empty on a desktop), and as chosen `axtree` (the part of the text) and
    `screenshot` (uint8 array of shape (height, width, 3)). The reward is 0 until the episode ends, then that of the
    task's verifier: +1 where the task was done, else -1; of MiniWoB++ the page's own, from -1 to 1. `info["report"]`
    has `success`, `score`, `ending` (`done`, `fail`, `answer`, `limit`, or `page` where the page ended it), and where
    asked for `recording`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1}
    family = "gui"
    recording = True
    """Whether the next episodes are recorded, where there is a folder for it."""

    def __init__(
        self,
        tasks: str | Path | Sequence[Task] | None = None,
        *,
        backend: Backend | None = None,
        sandbox: str = "namespace",
        pool: SandboxPool | None = None,
        machines: str | Sequence[str | Mapping[str, Any]] | None = None,
        desktop_env: str | None = None,
        cache: str | Path | None = None,
        password: str = "password",
        executable: str | None = None,
        size: Sequence[int] | str = (1280, 720),
        observe: Sequence[str] | str = ("axtree", "screenshot"),
        actions: Space = "elements",
        coordinates: Coordinates = "grid",
        images: int = 0,
        max_characters: int = 16_000,
        record: str | Path | None = None,
        max_steps: int | None = None,
        step_timeout: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        """
        Args:
            tasks: tasks, or where to load them from (None: the built-in web applications); see `claw_envs.gui.loader`.
            backend: `browser`, `desktop` or `osworld`; None: what the task needs.
            sandbox: of the desktop: `namespace` or `docker`.
            pool: where desktops' sandboxes are taken from and given back to; None: each environment keeps its own.
            machines: for OSWorld's tasks: their URLs, `docker`, or the dotted name of what provides them; see
                `claw_envs.gui.osworld`.
            desktop_env: path of the Python that has OSWorld's `desktop_env`, for evaluators that we do not have.
            cache: folder with the files that OSWorld's tasks download; None: the one in claw-envs' cache.
            password: of the machines' user, for OSWorld's set-up commands that give it to sudo.
            executable: path of the browser; None: the one that is found.
            size: width and height of the screen in pixels; `1280x720` is read too.
            observe: which of `axtree` and `screenshot` are made; each takes time. A text with commas is read too.
            actions: what the system prompt teaches: `elements`, `computer_use`, `computer_13` or `pyautogui`. The
                others are read as well; code only where there is a sandbox for it.
            coordinates: that the agent reads and writes: `grid` (0 to 999 on both axes) or `pixels`.
            images: how many of the last screenshots a model that sees is shown; 0: text only.
            max_characters: of the accessibility tree as text.
            record: folder that gets a GIF of every episode.
            max_steps: overrides every task's own limit.
            step_timeout: seconds, overrides every task's own limit.
            render_mode: None, `ansi` (the transcript as text) or `rgb_array` (the last screenshot).
        """
        check_words(actions=actions, coordinates=coordinates, backend=backend, sandbox=sandbox)
        observe = observed(observe, images, max_characters)
        warn_of_blindness(observe, images, actions)
        self._frame = Frame(size_of(size), "pixels" if actions == "pyautogui" else coordinates)  # as code has them
        self._observed = Parts(screenshot="screenshot" in observe, axtree="axtree" in observe)
        pictures = self._observed.screenshot or record is not None or render_mode == "rgb_array"
        self._parts = self._observed._replace(screenshot=pictures)
        self._max_characters = max_characters
        super().__init__(tasks, max_steps=max_steps, step_timeout=step_timeout, render_mode=render_mode)
        self.images = images
        self._options = Options(
            size=self._frame.size, backend=backend, executable=executable, sandbox=sandbox, pool=pool,
            machines=machines, desktop_env=desktop_env, cache=cache, password=password,
        )  # fmt: skip
        self.tasks = playable(self.tasks, self._options)
        self._space: Space = actions
        self._recorder = None if record is None else Recorder(Path(record))
        self._open: Stage | None = None
        self._view, self._tree = View(), ""
        self._ending: Ending | None = None
        self._by_itself = False
        self._acts: list[ScreenAct] = []

    # --- the episode --------------------------------------------------------------------------------------------

    async def _start(self, task: Task) -> Observation:
        self._ending, self._by_itself, self._acts = None, False, []
        seed = int(self.np_random.integers(2**31))
        place = place_of(task, self._options)
        if self._space == "pyautogui" and not place.takes_code:
            raise UserError(
                f"task {task.id} is in a browser, where no code is carried out: choose other actions, such as "
                'actions="elements", or tasks="desktop"'
            )
        if self._open is None or self._open.place != place:
            await self._stop()
            self._open = open_stage(place, self._options)
        try:
            instruction = await self._open.scenario.prepare(task, seed=seed)
            if self._open.screen.size != self._frame.size:
                raise UserError(f"the screen has another size: make the environment with size={self._open.screen.size}")
            seen = await self._look()
        except (InfrastructureError, UserError, asyncio.CancelledError):
            await self._stop()
            raise
        self._task = msgspec.structs.replace(task, instruction=instruction)
        browser = place.backend == "browser"
        self.system_prompt, self.tools = prompt(self._space, self._frame.coordinates, self._frame.size, browser=browser)
        if self._recorder is not None and self.recording:
            self._recorder.begin(task.id)
        first = with_text(Observation(role="user", text=f"{instruction}\n"), seen)
        return self._with_screen(with_text(first, turns_left(task.limits.max_steps)))

    async def _act(self, action: Action) -> Step:
        at, frame = self._stage, self._frame
        calls = parse(
            action, size=frame.size, coordinates=frame.coordinates, takes_code=at.place.takes_code, space=self._space
        )
        before = self._view
        done = await carry_out(calls, at.screen, at.scenario.ended, limit=self.task.limits.step_timeout)
        self._ending, self._by_itself = done.ending, done.by_itself
        self._acts += done.acts
        seen = _answered(calls, done)
        if done.touched:
            seen = with_text(seen, await self._look())
        if self._recorder is not None:
            await self._recorder.step(before, calls, done)
        left = self.task.limits.max_steps - self._step_index
        if left and not done.over:
            seen = with_text(seen, turns_left(left))
        return Step(self._with_screen(seen), Status.COMPLETED if done.over else None)

    async def _verify(self) -> Outcome:
        outcome = await self._stage.scenario.verify(Said(self._ending, tuple(self._acts)))
        ending = "page" if self._by_itself else name_of(self._ending)
        return Outcome(outcome.score, {"ending": ending} | outcome.report)

    async def _stop(self) -> None:
        stage, self._open = self._open, None
        if stage is not None:
            await stage.scenario.close()

    @property
    def _stage(self) -> Stage:
        assert self._open is not None, "reset the environment first"
        return self._open

    # --- recordings ---------------------------------------------------------------------------------------------

    async def astep(self, action: Action) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """See `ClawEnv.astep`; of an episode that ended, however it did, the recording is written."""
        *stepped, info = await super().astep(action)
        return (*stepped, await self._recorded(info))  # type: ignore[return-value]  # of the same types

    async def atruncate(self) -> dict[str, Any]:
        """See `ClawEnv.atruncate`; an episode that was not aborted has an `error` too, as the context was full."""
        info = await super().atruncate()
        if info["status"] == Status.TRUNCATED:
            info["error"] = (
                f"{CONTEXT_FULL}: a smaller max_characters (here {self._max_characters}) makes observations smaller"
            )
        return await self._recorded(info)

    async def _recorded(self, info: dict[str, Any]) -> dict[str, Any]:
        if self._recorder is None or info["status"] == Status.RUNNING:
            return info
        report = info.get("report", {})
        how = info.get("error") or f"{'success' if report.get('success') else 'no success'}, {report.get('ending')}"
        path = await self._recorder.end(self._view, f"{info['status'].lower()}: {how}")
        return info if path is None else info | {"report": report | {"recording": path}}

    # --- the observation ----------------------------------------------------------------------------------------

    async def _look(self) -> str:
        self._view = await self._stage.screen.look(self._parts)
        text, self._tree = view_text(self._view, self._frame, max_characters=self._max_characters)
        return text

    def _with_screen(self, seen: Observation) -> Observation:
        """`seen` with what could be seen last, as an array of its own: the same screen may be shown again."""
        screenshot = self._view.screenshot if self._observed.screenshot else None
        return msgspec.structs.replace(
            seen,
            screenshot=None if screenshot is None else screenshot.copy(),
            axtree=self._tree if self._observed.axtree else None,
            url=None if self._view.url is None else valid(self._view.url),
        )

    def _observation_spaces(self) -> dict[str, gym.Space[Any]]:
        spaces = super()._observation_spaces() | {"url": Unicode(MAX_URL)}
        if self._observed.axtree:
            spaces["axtree"] = Unicode(MAX_TEXT)
        if self._observed.screenshot:
            width, height = self._frame.size
            spaces["screenshot"] = gym.spaces.Box(0, 255, (height, width, 3), np.uint8)
        return spaces

    def _observe(self, observation: Observation) -> dict[str, Any]:
        seen = super()._observe(observation) | {"url": (observation.url or "")[:MAX_URL]}
        if self._observed.axtree:
            seen["axtree"] = (observation.axtree or "")[:MAX_TEXT]
        if self._observed.screenshot:
            seen["screenshot"] = self._blank() if observation.screenshot is None else observation.screenshot
        return seen

    def _blank(self) -> NDArray[np.uint8]:
        """A screen that nobody has seen: before the first look, and after the screen was lost."""
        width, height = self._frame.size
        return np.zeros((height, width, 3), np.uint8)

    def render(self) -> str | NDArray[np.uint8]:  # type: ignore[override]
        """The last screenshot, or the transcript so far."""
        if self.render_mode != "rgb_array":
            return super().render()
        return self._blank() if self._view.screenshot is None else self._view.screenshot


def _answered(calls: Sequence[Parsed], done: Carried) -> Observation:
    """What the agent is told of its calls; what can be seen is still to be added."""
    return shown(
        [Asked(call.name, call.id) for call in calls],
        done.results,
        role="tool" if any(result.ran for result in done.results) else "environment",
        answers=any(call.id for call in calls),
    )


class GuiVectorEnv(ClawVectorEnv):
    """Many screens on one event loop; browsers share their process."""

    metadata: dict[str, Any] = ClawVectorEnv.metadata | {"render_modes": GuiEnv.metadata["render_modes"]}
    env_class = GuiEnv
