"""What real environments take on this machine: steps and resets, one at a time and many at once."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from statistics import fmean, pvariance
from typing import Any, NamedTuple

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Status
from evals.perf.scale.table import Hosts, Spread
from trainers.config import load_config
from trainers.plugins import make_env

ACTIONS = {"terminal": "```bash\necho here\n```", "toolcall": "```python\nprint(6 * 7)\n```"}
"""By family: a turn that does little, after which the episode goes on."""


class Times(NamedTuple):
    """Seconds of single steps and resets."""

    steps: list[float]
    """Without those that end an episode."""
    resets: list[float]
    ends: list[float]
    """Of the steps that end an episode, the verdict included."""

    def clear(self) -> None:
        """Forget them all."""
        for seconds in self:
            seconds.clear()

    def hosts(self, room: float) -> Hosts:
        """The environments' part of a table, on a machine with room for so many steps or resets at once."""
        step = fmean(self.steps)
        return Hosts(
            cores=1.0,
            step=spread(self.steps),
            step_load=1 / room,
            reset=spread(self.resets),
            reset_load=1 / room,
            verify=spread([max(0.0, seconds - step) for seconds in self.ends]),
        )


def environments(family: str, count: int, turns: int) -> list[ClawEnv]:
    """Environments whose episodes have so many turns."""
    config = load_config(family, None, {"env.max_steps": str(turns)})
    return [make_env(config) for _ in range(count)]


async def measure(family: str, *, turns: int, episodes: int, crowd: int) -> Hosts:
    """The environments' part of a table.

    With N at once all of it takes longer than alone by a factor f: then the machine has room for N/f at once, and each
    holds that share of it. Cores are counted as one.

    Args:
        turns: of an episode; the last one includes the verdict.
        episodes: of each environment.
        crowd: environments that run at once in the second measurement.
    """
    alone = await _episodes(family, 1, turns, episodes)
    together = await _episodes(family, crowd, turns, episodes)
    taken = sum(sum(seconds) for seconds in together)
    needed = sum(len(many) * fmean(one) for many, one in zip(together, alone, strict=True))
    return alone.hosts(max(1.0, crowd * needed / taken))


def spread(seconds: Sequence[float]) -> Spread:
    """The lognormal distribution of the same mean and variance: σ² = ln(1 + var/mean²), median = mean·e^(-σ²/2)."""
    mean = fmean(seconds)
    if mean == 0:
        return Spread(median=0.0)
    sigma = math.sqrt(math.log1p(pvariance(seconds) / mean**2))
    return Spread(median=mean * math.exp(-(sigma**2) / 2), sigma=sigma)


async def _episodes(family: str, count: int, turns: int, episodes: int) -> Times:
    times = Times([], [], [])
    envs = environments(family, count, turns)
    try:
        await asyncio.gather(*(env.areset(seed=0) for env in envs))  # the first start is none of the later ones
        for env in envs:
            watch(env, times)
        await asyncio.gather(*(_play(env, ACTIONS[family], episodes) for env in envs))
    finally:
        await asyncio.gather(*(env.aclose() for env in envs))
    return times


def watch(env: ClawEnv, times: Times) -> None:
    """Note how long each step and reset of `env` takes from now on."""

    def of_step(info: dict[str, Any]) -> list[float]:
        return times.steps if info["status"] == Status.RUNNING else times.ends

    for name, chosen in (("astep", of_step), ("areset", lambda info: times.resets)):
        setattr(env, name, _timed(getattr(env, name), chosen))


def _timed(
    call: Callable[..., Awaitable[Any]], chosen: Callable[[dict[str, Any]], list[float]]
) -> Callable[..., Awaitable[Any]]:
    async def timed(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        result = await call(*args, **kwargs)
        chosen(result[-1]).append(time.perf_counter() - began)
        return result

    return timed


async def _play(env: ClawEnv, action: str, episodes: int) -> None:
    for seed in range(episodes):
        _, info = await env.areset(seed=seed)
        while info["status"] == Status.RUNNING:
            *_, info = await env.astep(action)
