"""The roll-out loop: keeps environments busy, hands every finished turn to the judge, accepts units into the store.

Turn-level signals accept each judged turn by itself; grouped ones accept a group of episodes once all have ended and
all their turns are judged. Aborted episodes are retried with a bound, counted, and never accepted.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Episode, Status, Turn
from trainers.config import Config
from trainers.judging import JudgeLoop
from trainers.meters import BusyMeter
from trainers.pacer import Pacer
from trainers.policies.base import Policy, Sampling
from trainers.records import RecordWriter
from trainers.rollout import run_episode
from trainers.signals import trainable
from trainers.store import Store, Unit


@dataclass
class Group:
    """Episodes that are compared with each other; for turn-level signals, one episode."""

    id: str
    task: str
    size: int
    ended: list[Episode] = field(default_factory=list)
    lost: int = 0

    @property
    def complete(self) -> bool:
        """Whether every member has ended, for good or for ill."""
        return len(self.ended) + self.lost == self.size


@dataclass
class _Job:
    group: Group
    index: int
    seed: int
    attempt: int = 0


class Collector:
    """Runs `parallel` environments and puts what they yield into the store."""

    def __init__(
        self,
        make_env: Callable[[], ClawEnv],
        policy: Policy,
        judging: JudgeLoop,
        store: Store,
        pacer: Pacer,
        records: RecordWriter,
        config: Config,
    ) -> None:
        self.config, self.policy, self.judging = config, policy, judging
        self.store, self.pacer, self.records = store, pacer, records
        self.meter = BusyMeter()
        self.accepted = asyncio.Event()
        """Set whenever a unit was accepted; the learn loop clears it."""
        self.turns_served = self.aborted = 0
        self.rewards: list[float] = []
        """Judge scores (turn-level) or outcomes (grouped) since the learn loop last took them."""
        self._make_env = make_env
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue(config.rollout.parallel)

    async def run(self) -> None:
        """Collect until cancelled."""
        envs = [self._make_env() for _ in range(self.config.rollout.parallel)]
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._dispatch([task.id for task in envs[0].tasks]))
                for env in envs:
                    group.create_task(self._work(env))
        finally:
            await asyncio.gather(*(env.aclose() for env in envs))

    async def _dispatch(self, task_ids: list[str]) -> None:
        size = self.config.rollout.group_size if self.config.grouped else 1
        for number, task in enumerate(_epochs(task_ids, [self.config.seed, self.store.start])):
            if self.config.grouped:
                await self.pacer.acquire(size)
            group = Group(id=f"{self.store.start}-{number:06d}", task=task, size=size)
            for index in range(size):
                seed = int(np.random.default_rng([self.config.seed, self.store.start, number, index]).integers(2**31))
                await self._jobs.put(_Job(group, index, seed))

    async def _work(self, env: ClawEnv) -> None:
        while True:
            await self._attempt(await self._jobs.get(), env)

    async def _attempt(self, job: _Job, env: ClawEnv) -> None:
        config, group = self.config, job.group
        episode_id = f"{group.id}.{job.index}" + (f"r{job.attempt}" if job.attempt else "")
        held = 0
        verdicts: list[asyncio.Future[None]] = []

        async def admit() -> None:
            nonlocal held
            if not config.grouped:
                await self.pacer.acquire()
                held = 1

        async def hand_over(turn: Turn, history: list[Turn]) -> None:
            nonlocal held
            held = 0
            self.turns_served += 1
            if config.grouped:
                verdict = asyncio.get_running_loop().create_future()
                verdicts.append(verdict)
                await self.judging.submit(turn, history, env.task, lambda judged: self._judged(judged, verdict))
            else:
                await self.judging.submit(turn, history, env.task, self._accept_turn)

        generation = config.generation
        episode = await run_episode(
            env,
            self.policy,
            sampling=Sampling(generation.max_new_tokens, generation.temperature, seed=job.seed),
            task=group.task,
            seed=job.seed,
            episode_id=episode_id,
            group_id=group.id,
            sample_index=job.index,
            stepping=self.meter,
            before_turn=admit,
            on_turn=hand_over,
        )
        self.pacer.release(held)
        if episode.status is Status.ABORTED:
            self.aborted += 1
            if job.attempt < config.rollout.abort_retries:
                await self._attempt(_Job(group, job.index, job.seed, job.attempt + 1), env)
                return
            group.lost += 1
        else:
            group.ended.append(episode)
        if config.grouped:
            await asyncio.gather(*verdicts)
            await self._accept_group(group)

    async def _accept_turn(self, turn: Turn) -> None:
        accepted = trainable(turn, self.config)
        if turn.verdict and turn.verdict.score is not None:
            self.rewards.append(turn.verdict.score)
        if accepted:
            episode = Episode(id=turn.episode_id, task_id="", family=self.config.family, turns=[turn])
            await asyncio.to_thread(self.store.accept, Unit(id=turn.id, samples=1, episodes=[episode]))
            self.accepted.set()
        else:
            self.pacer.release()
        self.records.add(turn, version=self.policy.version, accepted=accepted)

    async def _judged(self, turn: Turn, verdict: asyncio.Future[None]) -> None:
        self.records.add(turn, version=self.policy.version, accepted=True)
        verdict.set_result(None)

    async def _accept_group(self, group: Group) -> None:
        if not group.complete:
            return
        ended = [episode for episode in group.ended if episode.turns]
        self.rewards += [episode.outcome for episode in ended if episode.outcome is not None]
        if ended:
            await asyncio.to_thread(self.store.accept, Unit(id=group.id, samples=len(ended), episodes=ended))
            self.accepted.set()
        self.pacer.release(group.size - len(ended))


def _epochs(task_ids: list[str], seed: list[int]) -> Iterator[str]:
    """Every task once in an order of its own, again and again."""
    rng = np.random.default_rng(seed)
    while True:
        yield from (task_ids[i] for i in rng.permutation(len(task_ids)))
