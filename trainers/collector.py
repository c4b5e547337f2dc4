"""The roll-out loop: keeps environments busy, hands every finished turn to the judge, accepts units into the store.

Turn-level signals accept each judged turn by itself: it has its next state, whatever becomes of the episode later.
Grouped ones accept a group of episodes once all have ended and all their turns are judged. Aborted episodes are retried
with a bound, counted, and never accepted. Screenshots are let go once their turn is judged, as what is trained is text.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Episode, Status, Turn
from claw_envs.core.errors import InfrastructureError
from trainers.config import Config
from trainers.judging import JudgeLoop
from trainers.meters import BusyMeter
from trainers.pacer import Pacer, Ticket
from trainers.policies.base import Policy, Sampling
from trainers.records import RecordWriter
from trainers.rollout import run_episode
from trainers.signals import trainable
from trainers.store import Store, Unit

HOPELESS = 4
"""Times `parallel` that as many episodes in a row may be aborted before the run gives up."""


@dataclass
class Group:
    """Episodes that are compared with each other; for turn-level signals, one episode."""

    id: str
    task: str
    size: int
    ticket: Ticket | None
    """Admission of the whole group; turn-level signals admit every turn by itself."""
    ended: list[Episode] = field(default_factory=list)
    lost: int = 0


@dataclass
class _Job:
    group: Group
    index: int
    seed: list[int]
    attempt: int = 0


class Collector:
    """Runs its environments all at once and puts what they yield into the store."""

    def __init__(
        self,
        envs: list[ClawEnv],
        policy: Policy,
        judging: JudgeLoop,
        store: Store,
        pacer: Pacer,
        records: RecordWriter,
        config: Config,
    ) -> None:
        self.config, self.policy, self.judging = config, policy, judging
        self.store, self.pacer, self.records = store, pacer, records
        self.envs = envs
        self.meter = BusyMeter()
        self.accepted = asyncio.Event()
        """Set whenever a unit was accepted; the learn loop clears it."""
        self.turns_served = self.aborted = 0
        self.rewards: list[float] = []
        """Judge scores (turn-level) or outcomes (grouped) since the learn loop last took them."""
        self._aborted_in_a_row = 0
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue(config.rollout.parallel)

    async def run(self) -> None:
        """Collect until cancelled.

        Raises:
            InfrastructureError: if nothing but aborted episodes comes back.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._dispatch([task.id for task in self.envs[0].tasks]))
                for env in self.envs:
                    tasks.create_task(self._work(env, tasks.create_task))
        finally:
            await asyncio.gather(*(env.aclose() for env in self.envs))

    async def _dispatch(self, task_ids: list[str]) -> None:
        size = self.config.rollout.group_size if self.config.grouped else 1
        seed = [self.config.seed, self.store.start]
        for number, task in enumerate(epochs(task_ids, seed)):
            ticket = await self.pacer.admit(size) if self.config.grouped else None
            group = Group(id=f"{self.store.start}-{number:06d}", task=task, size=size, ticket=ticket)
            for index in range(size):
                await self._jobs.put(_Job(group, index, [*seed, number, index]))

    async def _work(self, env: ClawEnv, spawn: Callable[[Coroutine[Any, Any, None]], Any]) -> None:
        while True:
            job = await self._jobs.get()
            final = False
            while not final:
                verdicts: list[asyncio.Future[None]] = []
                episode = await self._attempt(job, env, verdicts)
                job.attempt += 1
                final = self._note(episode) or job.attempt > self.config.rollout.abort_retries
                if self.config.grouped:
                    finishing = self._finish(job.group if final else None, episode, verdicts)
                    try:
                        spawn(finishing)
                    except RuntimeError:  # the run is ending, and its environment came back late
                        finishing.close()
                        return

    async def _attempt(self, job: _Job, env: ClawEnv, verdicts: list["asyncio.Future[None]"]) -> Episode:
        group, generation = job.group, self.config.generation
        tickets: list[Ticket] = []

        async def admit() -> None:
            if not self.config.grouped:
                tickets.append(await self.pacer.admit())

        async def hand_over(turn: Turn, history: list[Turn]) -> None:
            self.turns_served += 1
            if self.config.grouped:
                verdict: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                verdicts.append(verdict)
                await self.judging.submit(turn, history, env.task, lambda judged: _resolve(verdict))
            else:
                ticket = tickets.pop()
                await self.judging.submit(turn, history, env.task, lambda judged: self._accept_turn(judged, ticket))

        seed = int(np.random.default_rng([*job.seed, job.attempt]).integers(2**31))
        try:
            return await run_episode(
                env,
                self.policy,
                sampling=Sampling(generation.max_new_tokens, generation.temperature, seed=seed),
                task=group.task,
                seed=seed,
                episode_id=f"{group.id}.{job.index}" + (f"r{job.attempt}" if job.attempt else ""),
                group_id=group.id,
                sample_index=job.index,
                stepping=self.meter,
                before_turn=admit,
                on_turn=hand_over,
            )
        finally:
            for ticket in tickets:
                self.pacer.let_go(ticket)

    def _note(self, episode: Episode) -> bool:
        """Count an aborted episode. Returns whether this one was not."""
        if episode.status is not Status.ABORTED:
            self._aborted_in_a_row = 0
            return True
        self.aborted += 1
        self._aborted_in_a_row += 1
        self.records.abort(episode)
        if self._aborted_in_a_row > HOPELESS * self.config.rollout.parallel:
            raise InfrastructureError(
                f"{self._aborted_in_a_row} episodes in a row were aborted, the last one with: {episode.error}"
            )
        return False

    async def _accept_turn(self, turn: Turn, ticket: Ticket) -> None:
        turn = turn.without_screenshots()  # a copy: the turn after it is judged by what this one shows
        accepted = trainable(turn, self.config)
        if turn.verdict and turn.verdict.score is not None:
            self.rewards.append(turn.verdict.score)
        if accepted:
            episode = Episode(id=turn.episode_id, task_id="", family=self.config.family, turns=[turn])
            await self._store(Unit(id=turn.id, samples=1, episodes=[episode]), ticket)
        else:
            self.pacer.let_go(ticket)
        self.records.add(turn, version=self.policy.version, accepted=accepted)

    async def _finish(self, group: Group | None, episode: Episode, verdicts: list["asyncio.Future[None]"]) -> None:
        """Wait for an ended episode's verdicts; accept its group where it was the last member to end.

        Args:
            group: None where the episode was aborted and is being tried again.
        """
        await asyncio.gather(*verdicts)
        episode.turns = [turn.without_screenshots() for turn in episode.turns]
        whole = episode.status is not Status.ABORTED and bool(episode.turns)
        for turn in episode.turns:
            self.records.add(turn, version=self.policy.version, accepted=whole)
        if group is None:
            return
        if whole:
            group.ended.append(episode)
        else:
            group.lost += 1
        if len(group.ended) + group.lost < group.size:
            return
        assert group.ticket is not None
        self.rewards += [episode.outcome for episode in group.ended if episode.outcome is not None]
        if group.ended:
            await self._store(Unit(id=group.id, samples=group.size, episodes=group.ended), group.ticket)
        else:
            self.pacer.let_go(group.ticket)

    async def _store(self, unit: Unit, ticket: Ticket) -> None:
        await asyncio.to_thread(self.store.accept, unit)
        self.pacer.accept(ticket)
        self.accepted.set()


async def _resolve(verdict: "asyncio.Future[None]") -> None:
    if not verdict.done():
        verdict.set_result(None)


def epochs(task_ids: list[str], seed: list[int]) -> Iterator[str]:
    """Every task once in an order of its own, again and again."""
    rng = np.random.default_rng(seed)
    while True:
        yield from (task_ids[i] for i in rng.permutation(len(task_ids)))
