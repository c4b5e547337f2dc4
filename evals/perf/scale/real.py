"""The bundled trainer's own pieces at work: real environments, collector, pacer, judge loop and store.

Only what a GPU would do is played: a policy, a judge and a learner that take a time that is known.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.task import Task
from evals.perf.scale import hosts
from evals.perf.scale.table import Spread
from trainers.collector import Collector
from trainers.config import Config, load_config
from trainers.judging import JudgeLoop
from trainers.meters import BusyMeter
from trainers.pacer import Pacer
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.records import RecordWriter
from trainers.store import Store, Unit


class Played(msgspec.Struct, kw_only=True, frozen=True):
    """What is not real in a real run, and how large the run is."""

    token_s: float = 0.001
    """Seconds a token takes, however many responses are sampled at once."""
    slots: int = 32
    """Responses sampled at once."""
    response: Spread
    """Tokens."""
    verdict_s: float = 0.02
    judges: int = 8
    update_s: float = 0.2
    turns: int = 4
    group: int = 4
    max_staleness: int = 2
    warm: int = 4
    updates: int = 12


class Seen(NamedTuple):
    """What a real run did between its warm-up and its end."""

    samples_per_second: float
    turns_per_second: float
    learning: float
    """Utilisation, as the next."""
    judging: float
    staleness: Counter[int]
    aborted: int
    times: hosts.Times
    """Of steps and resets that ended in that time."""


class TimedPolicy:
    """Answers with a fixed text after the time that its tokens would take."""

    def __init__(self, played: Played, text: str) -> None:
        self.version = 0
        self._played, self._text = played, text
        self._slots = asyncio.Semaphore(played.slots)

    async def generate(
        self, prompt: Prompt, sampling: Sampling, *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """See `Policy.generate`; the same seed gives the same length."""
        spread = self._played.response
        rng = np.random.default_rng(sampling.seed)
        tokens = max(1.0, min(spread.most, float(rng.lognormal(math.log(spread.median), spread.sigma))))
        async with self._slots:
            version = self.version
            await asyncio.sleep(tokens * self._played.token_s)
        return Completion([1], [2], [0.0], [version], "stop", self._text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """See `Policy.score`."""
        return [0.0] * len(response_ids)

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        """See `Policy.update_weights`."""
        self.version = version

    async def aclose(self) -> None:
        """See `Policy.aclose`."""


class TimedJudge:
    """Finds every turn good, after a fixed time; several at once, which it counts."""

    def __init__(self, seconds: float) -> None:
        self.busy = 0.0
        self._seconds = seconds

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        """See `Judge.judge`."""
        await asyncio.sleep(self._seconds)
        self.busy += self._seconds
        return Verdict(score=1.0)


class RealRun:
    """One run of the trainer's loops."""

    def __init__(self, directory: Path, family: str, parallel: int, batch: int, played: Played) -> None:
        self._played, self._batch = played, batch
        self._config = self._configured(family, parallel, batch)
        capacity = (played.max_staleness + 1) * batch
        self._policy = TimedPolicy(played, hosts.ACTIONS[family])
        self._judge = TimedJudge(played.verdict_s)
        self._store, self._pacer = Store(directory / "store.sqlite"), Pacer(capacity)
        self._records = RecordWriter(directory / "records")
        self._judging = JudgeLoop(self._judge, workers=played.judges, capacity=capacity)
        self._learning = BusyMeter()
        self._staleness: Counter[int] = Counter()
        self._times = hosts.Times([], [], [])
        self._envs = hosts.environments(family, parallel, played.turns)
        self._collector = Collector(
            self._envs, self._policy, self._judging, self._store, self._pacer, self._records, self._config
        )

    async def run(self) -> Seen:
        """Run until the last update that counts; the environments have been started once before the first."""
        await asyncio.gather(*(env.areset(seed=0) for env in self._envs))
        for env in self._envs:
            hosts.watch(env, self._times)
        loops = [asyncio.create_task(self._judging.run()), asyncio.create_task(self._collector.run())]
        learn = asyncio.create_task(self._learn())
        try:
            await asyncio.wait([*loops, learn], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*loops, learn):
                if not task.done():
                    task.cancel()
            ended = await asyncio.gather(*loops, learn, return_exceptions=True)
            self._records.close()
            self._store.close()
        for error in ended[:2]:
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise error
        return learn.result()

    def _configured(self, family: str, parallel: int, batch: int) -> Config:
        settings = {
            "signal": "step_index",
            "batch_size": str(batch),
            "rollout.parallel": str(parallel),
            "rollout.group_size": str(self._played.group),
            "rollout.max_staleness": str(self._played.max_staleness),
            "judge.workers": str(self._played.judges),
            "env.max_steps": str(self._played.turns),
        }
        return load_config(family, None, settings)

    async def _learn(self) -> Seen:
        played = self._played
        began, before = 0.0, (0, 0.0, 0.0)
        for version in range(1, played.warm + played.updates + 1):
            units = await self._claim(version)
            with self._learning.busy():
                await asyncio.sleep(played.update_s)
            if version > played.warm:
                for unit in units:
                    self._staleness[version - 1 - _oldest(unit)] += unit.samples
            await self._policy.update_weights({}, version)
            self._pacer.train(sum(unit.samples for unit in units))
            if version == played.warm:
                began, before = time.perf_counter(), self._counted()
                self._times.clear()
        seconds = time.perf_counter() - began
        turns, learning, judging = (now - then for now, then in zip(self._counted(), before, strict=True))
        return Seen(
            samples_per_second=played.updates * self._batch / seconds,
            turns_per_second=turns / seconds,
            learning=learning / seconds,
            judging=judging / seconds / played.judges,
            staleness=self._staleness,
            aborted=self._collector.aborted,
            times=self._times,
        )

    async def _claim(self, version: int) -> list[Unit]:
        while True:
            self._collector.accepted.clear()
            if units := await asyncio.to_thread(self._store.claim, version, self._batch):
                return units
            await self._collector.accepted.wait()

    def _counted(self) -> tuple[int, float, float]:
        return self._collector.turns_served, self._learning.seconds, self._judge.busy


def _oldest(unit: Unit) -> int:
    return min(min(turn.versions) for episode in unit.episodes for turn in episode.turns)
