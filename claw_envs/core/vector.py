"""`ClawVectorEnv`: many copies on one event loop. No process an environment, no dummy boot, text intact."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from typing import Any, ClassVar, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from numpy.typing import NDArray

from claw_envs.core.env import Action, ClawEnv
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import run_sync

T = TypeVar("T")

_RESETS = 3  # attempts to begin an episode by autoreset, before the copy is reported as aborted

Batch = tuple[dict[str, Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class ClawVectorEnv(gym.vector.VectorEnv[dict[str, Any], Sequence[Action], NDArray[Any]]):
    """N copies stepped concurrently, with Gymnasium's next-step autoreset.

    Observations are those of the single environment batched by Gymnasium's own rules (text as a tuple of strings);
    `infos` is Gymnasium's dict of arrays with a `_key` mask for each key.
    """

    metadata: dict[str, Any] = {"autoreset_mode": gym.vector.AutoresetMode.NEXT_STEP, "render_modes": ["ansi"]}
    env_class: ClassVar[type[ClawEnv]]

    def __init__(self, num_envs: int = 1, **kwargs: Any) -> None:
        """
        Args:
            num_envs: number of copies.
            **kwargs: for each copy's constructor.

        Raises:
            UserError: if `num_envs` is below 1.
        """
        if num_envs < 1:
            raise UserError(f"num_envs must be at least 1, got {num_envs}")
        self.envs = self._copies(num_envs, kwargs)
        first = self.envs[0]
        self.num_envs = num_envs
        self.render_mode = first.render_mode
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space
        self.observation_space = batch_space(first.observation_space, num_envs)
        self.action_space = batch_space(first.action_space, num_envs)
        self._autoreset = np.zeros(num_envs, dtype=np.bool_)
        self._observations = [first._observe(Observation(role="environment", text=""))] * num_envs

    def _copies(self, number: int, arguments: dict[str, Any]) -> list[ClawEnv]:
        first = self.env_class(**arguments)
        shared = arguments | {"tasks": first.tasks}  # tasks are immutable: load them once
        return [first, *(self.env_class(**shared) for _ in range(number - 1))]

    async def areset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset every copy, or those of `options["reset_mask"]` (bool array of shape (num_envs,)).

        Raises:
            InfrastructureError: if a copy could not be reset. The others are, and the next step resets that one.
        """
        options = dict(options or {})
        mask = options.pop("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or not mask.any():
            raise UserError(f"reset_mask must be a bool array of shape ({self.num_envs},) with at least one True")
        seeds = self._seeds(seed)

        async def one(i: int) -> dict[str, Any]:
            if not mask[i]:
                return {}
            try:
                self._observations[i], info = await self.envs[i].areset(seed=seeds[i], options=options)
            except InfrastructureError:
                self._autoreset[i] = True
                raise
            self._autoreset[i] = False
            return info

        infos = await self._each(one)
        return self._batched(), self._merged(infos)

    async def astep(self, actions: Sequence[Action]) -> Batch:
        """Step every copy concurrently; a copy whose episode ended at the step before is reset instead.

        One that cannot be reset is truncated, with status ABORTED and the error in its info, and tried again at the
        next step.
        """
        if isinstance(actions, str) or len(actions) != self.num_envs:
            raise UserError(f"step takes a sequence of {self.num_envs} actions, one for each environment")

        async def one(i: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
            return await (self._begin(i) if self._autoreset[i] else self.envs[i].astep(actions[i]))

        observations, rewards, terminated, truncated, infos = zip(*await self._each(one), strict=True)
        self._observations = list(observations)
        ended, cut = np.array(terminated, dtype=np.bool_), np.array(truncated, dtype=np.bool_)
        self._autoreset = ended | cut
        return self._batched(), np.array(rewards, dtype=np.float64), ended, cut, self._merged(infos)

    def reset(  # type: ignore[override]
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Synchronous `areset`."""
        return run_sync(self.areset(seed=seed, options=options))

    def step(self, actions: Sequence[Action]) -> Batch:
        """Synchronous `astep`."""
        return run_sync(self.astep(actions))

    def render(self) -> tuple[str, ...]:  # type: ignore[override]
        """Every copy's transcript."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Close every copy."""

        async def one(i: int) -> None:
            await self.envs[i].aclose()

        run_sync(self._each(one))

    async def _begin(self, i: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Autoreset copy `i`."""
        for _ in range(_RESETS):
            try:
                observation, info = await self.envs[i].areset()
                return observation, 0.0, False, False, info
            except InfrastructureError as error:
                reason = str(error)
        return self._observations[i], 0.0, False, True, {"status": str(Status.ABORTED), "error": reason}

    async def _each(self, one: Callable[[int], Awaitable[T]]) -> list[T]:
        """`one(i)` for every copy; the first error is raised once all have ended."""
        results = await asyncio.gather(*(one(i) for i in range(self.num_envs)), return_exceptions=True)
        done: list[T] = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            done.append(result)
        return done

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int):
            return [seed + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise UserError(f"got {len(seed)} seeds for {self.num_envs} environments")
        return seed

    def _batched(self) -> dict[str, Any]:
        empty = create_empty_array(self.single_observation_space, self.num_envs)
        return deepcopy(dict(concatenate(self.single_observation_space, self._observations, empty)))  # type: ignore[arg-type]

    def _merged(self, infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for i, info in enumerate(infos):
            merged = self._add_info(merged, info, i)
        return merged
