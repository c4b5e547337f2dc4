"""Plays tasks with policies of plain code, and says how it went."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Status
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from evals.gui.experts.policy import PlainPolicy, Stuck
from trainers.policies.base import Sampling
from trainers.rollout import run_episode

_ATTEMPTS = 3


class Part(NamedTuple):
    """One episode that is to be played."""

    task: Task
    seed: int
    player: str


class Played(NamedTuple):
    """How one episode went."""

    part: Part
    solved: bool
    """With the full reward, which pages of MiniWoB++ may also give a part of."""
    steps: int
    seconds: float
    why: str
    """Why it was not solved."""


Player = Callable[[Task, int], PlainPolicy]
"""A policy for one episode, by its task and seed."""


async def play_all(
    make_env: Callable[[], ClawEnv], parts: Sequence[Part], players: Mapping[str, Player], *, parallel: int
) -> list[Played]:
    """Play `parts`, each by its player, in at most `parallel` environments at a time; results are in their order.

    Raises:
        UserError: if a player cannot play its part, as one whose solution cannot be read, or an environment its task.
        InfrastructureError: see `play`.
    """
    waiting, played = deque(enumerate(parts)), dict[int, Played]()

    async def worker() -> None:
        env = make_env()
        try:
            while waiting:
                index, part = waiting.popleft()
                played[index] = await play(env, part, players[part.player])
        finally:
            await env.aclose()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(parallel, len(parts))):
                group.create_task(worker())
    except BaseExceptionGroup as errors:  # callers handle UserError, not groups of it
        raise errors.exceptions[0] from errors
    return [played[index] for index in range(len(parts))]


async def play(env: ClawEnv, part: Part, player: Player) -> Played:
    """Play one episode; one that infrastructure aborted is begun again.

    Raises:
        InfrastructureError: if it was aborted every time.
    """
    for _ in range(_ATTEMPTS):
        policy, started = player(part.task, part.seed), time.monotonic()
        try:
            episode = await run_episode(
                env,
                policy,
                sampling=Sampling(),
                task=part.task.id,
                seed=part.seed,
                episode_id=f"{part.player}/{part.task.id}/{part.seed}",
            )
        except Stuck as error:
            return Played(part, False, policy.said, time.monotonic() - started, f"stuck at {error}")
        if episode.status is not Status.ABORTED:
            solved = bool(episode.report.get("success"))
            why = "" if solved else f"{episode.status}: {episode.report}"
            return Played(part, solved, policy.said, time.monotonic() - started, why)
        await env.aclose()
    raise InfrastructureError(f"{part.task.id}: {episode.error}")
