"""`ClawEnv`: asynchronous at its core (`areset`, `astep`, `aclose`), a plain `gymnasium.Env` at its face.

A family implements four coroutines (`_start`, `_act`, `_verify`, `_stop`); limits, statuses, timings and the rule that
infrastructure failures are never scored live here. What an action means is the family's business.
"""

import asyncio
import json
import time
from collections import UserDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import gymnasium as gym
import msgspec
import numpy as np

from claw_envs.core.episode import Message, Observation, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import run_sync
from claw_envs.core.spaces import Unicode
from claw_envs.core.task import Limits, Task
from claw_envs.core.tasksets import load_tasks

Action = str | Message
"""The agent's message: its text, or an OpenAI-style dict with `content` and `tool_calls`."""

MAX_TEXT = 1_000_000
GUARD = 30.0
"""Seconds beyond a step's own limit after which the environment itself is taken to be stuck."""


class Step(NamedTuple):
    """What a family's `_act` returns."""

    observation: Observation
    end: Status | None = None
    """COMPLETED or FAILED where the action ended the episode."""
    reward: float = 0.0
    """Only for families that document a reward before the end."""


class Outcome(NamedTuple):
    """What a family's `_verify` returns."""

    score: float
    report: dict[str, Any] = {}


class Timings(UserDict[str, float]):
    """Seconds by name. Wall-clock is not part of the state: any two compare equal, as seeded replays must."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timings)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


class ClawEnv(gym.Env[dict[str, Any], Action]):
    """Base class of the five families.

    `reset(seed=, options={"task": id})` draws a task (or takes the named one). The reward is 0 until the episode ends,
    then the verifier's score. `info` holds `task_id`, `step_index`, `status`, `timings`, `tools` (schemas),
    `native_tools`, `system_prompt`, `few_shot`, `images`; at the end `report`, and for an aborted episode `error`.

    Raises:
        UserError: unknown task set, unknown task id, impossible options.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}
    family: ClassVar[str]
    system_prompt: str = ""
    """What the agent is told before the first observation; set anew at each reset where it depends on the task."""
    tools: tuple[dict[str, Any], ...] = ()
    """The tools as OpenAI function schemas; as above."""
    native_tools: bool = False
    """Whether the system prompt leaves the tools to the model's chat template, or to the API that serves it."""
    few_shot: tuple[Message, ...] = ()
    """Worked examples as chat messages, shown between the system prompt and the first observation."""
    images: int = 0
    """How many of the last screenshots a model that sees is shown beside the text."""

    def __init__(
        self,
        tasks: str | Path | Sequence[Task] | None = None,
        *,
        max_steps: int | None = None,
        step_timeout: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        """
        Args:
            tasks: tasks, or where to load them from (None: the built-in set).
            max_steps: overrides every task's own limit.
            step_timeout: seconds, overrides every task's own limit.
            render_mode: None or `ansi` (the transcript as text).
        """
        modes = self.metadata["render_modes"]
        if render_mode not in (None, *modes):
            raise UserError(f"render_mode must be None or {' or '.join(map(repr, modes))}, got {render_mode!r}")
        self.render_mode = render_mode
        self.tasks = load_tasks(self.family, tasks)
        self._overrides = {"max_steps": max_steps, "step_timeout": step_timeout}
        for name, value in self._overrides.items():
            kind = int if name == "max_steps" else int | float
            if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < np.inf):
                raise UserError(f"{name} must be a {'whole ' if kind is int else ''}number above 0, got {value!r}")
        self.observation_space = gym.spaces.Dict(self._observation_spaces())
        self.action_space = Unicode(MAX_TEXT)
        self._task: Task | None = None
        self._status: Status | None = None
        self._transcript: list[str] = []

    # --- what a family implements -------------------------------------------------------------------------------

    async def _start(self, task: Task) -> Observation:
        """Prepare `task` and return its first observation. May be called again without `_stop` in between."""
        raise NotImplementedError

    async def _act(self, action: Action) -> Step:
        """Execute one agent message. Malformed actions never raise: they cost a step and say what was wrong."""
        raise NotImplementedError

    async def _verify(self) -> Outcome:
        """Score the ended episode where the agent cannot have tampered."""
        raise NotImplementedError

    async def _stop(self) -> None:
        """Release everything. Called any number of times."""

    def _observation_spaces(self) -> dict[str, gym.Space[Any]]:
        """The fields of the observation; a family adds its own."""
        return {"role": Unicode(16), "text": Unicode(MAX_TEXT)}

    def _observe(self, observation: Observation) -> dict[str, Any]:
        """The struct as an element of `observation_space`; a family adds its own fields."""
        return {"role": observation.role, "text": observation.text[:MAX_TEXT]}

    # --- the asynchronous core ----------------------------------------------------------------------------------

    @property
    def task(self) -> Task:
        """The task of the current episode."""
        assert self._task is not None, "reset the environment first"
        return self._task

    @property
    def last_observation(self) -> Observation:
        """The latest next state, whole (the Gymnasium observation is its array form)."""
        return self._last

    async def areset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; see `gymnasium.Env.reset`.

        Raises:
            InfrastructureError: if the episode could not be prepared; nothing was scored and reset may be retried.
        """
        super().reset(seed=seed)
        self._task = self._choose(options or {})
        self._step_index, self._spent = 0, 0.0
        started = time.perf_counter()
        self._status = None
        try:
            self._last = await self._start(self._task)
        except TimeoutError as error:  # of something that it waited for; in a step it counts as infrastructure too
            raise InfrastructureError(str(error) or "the episode could not be prepared in time") from error
        self._status = Status.RUNNING
        self._transcript = [f"[{self._last.role}]\n{self._last.text}"]
        return self._observe(self._last), self._info(Timings(reset=time.perf_counter() - started))

    async def astep(self, action: Action) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Execute one agent message; see `gymnasium.Env.step`.

        An infrastructure failure ends the episode as truncated with reward 0.0 and `info["status"] == "ABORTED"`.
        """
        if self._status is not Status.RUNNING:
            raise gym.error.ResetNeeded("the episode has ended or was never begun: call reset first")
        timings = Timings()
        started = time.perf_counter()
        self._step_index += 1
        try:
            async with asyncio.timeout(self.task.limits.step_timeout + GUARD):
                step = await self._act(action)
            timings["step"] = time.perf_counter() - started
            self._spent += timings["step"]
            self._status = step.end or self._limit()
            self._last, reward, extra = step.observation, step.reward, {}
            if self._status is not Status.RUNNING:
                extra = await self._scored(timings)
                reward += extra["outcome"]
        except (InfrastructureError, TimeoutError) as error:
            reward, extra = 0.0, self._aborted(error)
        self._transcript += [f"[assistant]\n{shown(action)}", f"[{self._last.role}]\n{self._last.text}"]
        terminated = self._status in (Status.COMPLETED, Status.FAILED)
        truncated = self._status in (Status.TRUNCATED, Status.ABORTED)
        return self._observe(self._last), float(reward), terminated, truncated, self._info(timings) | extra

    async def atruncate(self) -> dict[str, Any]:
        """End the episode at a limit outside the environment (a full context window), and score it.

        Returns:
            `info` as the last `astep` would have given it, with `outcome`, or with `error` where it was aborted.
        """
        if self._status is not Status.RUNNING:
            raise gym.error.ResetNeeded("the episode has ended or was never begun: call reset first")
        self._status, timings = Status.TRUNCATED, Timings()
        try:
            extra = await self._scored(timings)
        except (InfrastructureError, TimeoutError) as error:
            extra = self._aborted(error)
        return self._info(timings) | extra

    async def aclose(self) -> None:
        """Release everything; may be called again."""
        self._status = None
        await self._stop()

    def about(self) -> dict[str, Any]:
        """What the agent is told beside the observations, as it stands in `info`."""
        return {
            "tools": list(self.tools),
            "native_tools": self.native_tools,
            "system_prompt": self.system_prompt,
            "few_shot": list(self.few_shot),
            "images": self.images,
        }

    # --- the Gymnasium face -------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Synchronous `areset`."""
        return run_sync(self.areset(seed=seed, options=options))

    def step(self, action: Action) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Synchronous `astep`."""
        return run_sync(self.astep(action))

    def close(self) -> None:
        """Synchronous `aclose`."""
        run_sync(self.aclose())

    def render(self) -> str:  # type: ignore[override]
        """The transcript so far."""
        return "\n\n".join(self._transcript)

    # --- helpers ------------------------------------------------------------------------------------------------

    def _choose(self, options: dict[str, Any]) -> Task:
        wanted = options.get("task")
        if wanted is None:
            task = self.tasks[int(self.np_random.integers(len(self.tasks)))]
        else:
            found = [task for task in self.tasks if task.id == wanted]
            if not found:
                raise UserError(f"no task {wanted!r} in this set; `claw tasks {self.family}` lists them")
            task = found[0]
        changed = {name: value for name, value in self._overrides.items() if value is not None}
        limits: Limits = msgspec.structs.replace(task.limits, **changed)
        return msgspec.structs.replace(task, limits=limits)

    async def _scored(self, timings: Timings) -> dict[str, Any]:
        started = time.perf_counter()
        async with asyncio.timeout(self._verify_limit()):
            outcome = await self._verify()
        timings["verify"] = time.perf_counter() - started
        return {"outcome": outcome.score, "report": outcome.report}

    def _verify_limit(self) -> float:
        """Seconds after which a verifier is taken to be stuck; more for a family that runs it more than once."""
        return self.task.verifier.timeout + GUARD

    def _aborted(self, error: Exception) -> dict[str, Any]:
        self._status = Status.ABORTED
        reason = str(error) or "the environment did not answer within its own time limit"
        self._last = Observation(role="environment", text=f"Episode aborted: {reason}")
        return {"error": reason}

    def _limit(self) -> Status:
        limits = self.task.limits
        over = self._step_index >= limits.max_steps or self._spent >= limits.episode_timeout
        return Status.TRUNCATED if over else Status.RUNNING

    def _info(self, timings: Timings) -> dict[str, Any]:
        return {
            "task_id": self.task.id,
            "step_index": self._step_index,
            "status": str(self._status),
            "timings": timings,
            **self.about(),
        }


def text_of(action: Action) -> str:
    """The text of an agent message, of its text parts where it comes in parts; empty where it has none."""
    content = action.get("content") if isinstance(action, dict) else action
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def tool_calls_of(action: Action) -> list[Any]:
    """The OpenAI `tool_calls` of an agent message; empty where it has none, or something else than a list."""
    calls = action.get("tool_calls") if isinstance(action, dict) else None
    return calls if isinstance(calls, list) else []


def shown(action: Action) -> str:
    """An agent message as it stands in the transcript."""
    calls = tool_calls_of(action)
    # the standard library's, as it takes half a surrogate pair, which an agent may write
    text = json.dumps(calls, ensure_ascii=False, separators=(",", ":"), default=repr)
    return text_of(action) + ("\n" + text if calls else "")
