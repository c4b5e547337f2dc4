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
    resets: list[float]


def environments(family: str, count: int, turns: int) -> list[ClawEnv]:
    """Environments whose episodes have so many turns."""
    config = load_config(family, None, {"env.max_steps": str(turns)})
    return [make_env(config) for _ in range(count)]


async def measure(family: str, *, turns: int, episodes: int, crowd: int) -> Hosts:
    """The environments' part of a table.

    Alone, a step takes s. With many at once the machine does X a second, so it has room for X·s of them (Little's
    law), and a step's load is that share of its cores. Cores are counted as one.

    Args:
        turns: of an episode; the last one includes the verdict.
        episodes: of each environment.
        crowd: environments that run at once in the second measurement.
    """
    alone = await _episodes(family, 1, turns, episodes)
    steps = await _room(family, crowd, turns, episodes, alone)
    return Hosts(
        cores=1.0,
        step=spread(alone.steps),
        step_load=1 / steps,
        reset=spread(alone.resets),
        reset_load=1 / steps,
    )


def spread(seconds: Sequence[float]) -> Spread:
    """The lognormal distribution of the same mean and variance: σ² = ln(1 + var/mean²), median = mean·e^(-σ²/2)."""
    mean = fmean(seconds)
    sigma = math.sqrt(math.log1p(pvariance(seconds) / mean**2))
    return Spread(median=mean * math.exp(-(sigma**2) / 2), sigma=sigma)


async def _room(family: str, crowd: int, turns: int, episodes: int, alone: Times) -> float:
    """Environments that the machine runs at once as fast as one alone."""
    together = await _episodes(family, crowd, turns, episodes)
    work = len(together.steps) * fmean(alone.steps) + len(together.resets) * fmean(alone.resets)
    return max(1.0, crowd * work / (sum(together.steps) + sum(together.resets)))


async def _episodes(family: str, count: int, turns: int, episodes: int) -> Times:
    times = Times([], [])
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
    for name, seconds in (("astep", times.steps), ("areset", times.resets)):
        setattr(env, name, _timed(getattr(env, name), seconds))


def _timed(call: Callable[..., Awaitable[Any]], seconds: list[float]) -> Callable[..., Awaitable[Any]]:
    async def timed(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        result = await call(*args, **kwargs)
        seconds.append(time.perf_counter() - began)
        return result

    return timed


async def _play(env: ClawEnv, action: str, episodes: int) -> None:
    for seed in range(episodes):
        _, info = await env.areset(seed=seed)
        while info["status"] == Status.RUNNING:
            *_, info = await env.astep(action)
