"""The bundled trainer: serve | roll out | judge | learn in one process, with bounded queues between them.

Serving runs in the policy's own thread, rolling out and judging on the event loop, learning in a worker thread. On a
CPU, serving and learning take turns at the cores token by token and micro-batch by micro-batch. What does not wait:
a step for its verdict, a response for an update, an episode for the others of its batch.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.lookup import lookup
from trainers import checkpoints
from trainers.collector import Collector
from trainers.config import Config
from trainers.judging import JudgeLoop
from trainers.learner import Learner, UpdateFigures
from trainers.memory import release, share_heaps
from trainers.metrics import MetricsWriter
from trainers.pacer import Pacer
from trainers.plugins import close_judge, make_env, make_judge
from trainers.policies.base import Prompt
from trainers.policies.embedded import EmbeddedPolicy
from trainers.policies.gate import ComputeGate
from trainers.policies.model import configure_torch, load_model, resolve_model
from trainers.preview import preview
from trainers.progress import Progress
from trainers.records import RecordWriter
from trainers.run import RunDirectory
from trainers.signals import to_sequences
from trainers.store import Store, Unit

PREFIX_TOKENS = 2048
"""Kept by the serving side for prompts that continue each other: about 50 kB each with SmolLM2."""
COUNTERS = ("turns_served", "turns_judged", "judge_failed", "aborted")
Result = TypeVar("Result")


def train(config: Config, run: Path, *, resume: bool = False, dry_run: bool = False) -> None:
    """Train until `config.updates` updates are done.

    Args:
        config: settings.
        run: directory of the run.
        resume: go on from the last checkpoint, repeating later updates with the samples they had.
        dry_run: only check the settings and print what would run; see `trainers.preview`.

    Raises:
        UserError: for settings or a directory that cannot work; unless it came up later, nothing is left written.
        InfrastructureError: if environments or policy stay broken; the run can be resumed.
    """
    if config.arguments:
        raise UserError(
            f"this trainer has no engine to pass flags on to: leave out {' '.join(config.arguments)!r}, write settings "
            "as --set KEY=VALUE, or train with --trainer openrlhf"
        )
    directory = RunDirectory(run, resume=resume)
    if dry_run:
        print(preview(config, directory))
        return
    share_heaps()
    try:
        asyncio.run(AsyncTrainer(config, directory).run())
    except* (UserError, InfrastructureError) as group:
        error = _first(group)
        if isinstance(error, UserError):
            directory.discard()
        raise error from None


class ReferenceScorer:
    """The initial weights, as far as an evaluation may ask them: log-probs of given tokens."""

    def __init__(self, trainer: "AsyncTrainer") -> None:
        self._trainer, self.renderer = trainer, trainer.policy.renderer

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """See `Policy.score`."""
        ids: Any = list(prompt)
        ids = self.renderer.prompt_ids(ids) if ids and isinstance(ids[0], dict) else ids
        rows = [(ids, list(response_ids))]
        scored = await self._trainer.in_learner(self._trainer.learner.score, rows, reference=True)
        return [float(value) for value in scored[0]]


class AsyncTrainer:
    """One run."""

    def __init__(self, config: Config, directory: RunDirectory) -> None:
        """Put the parts together, those that a user's mistake can break first."""
        self.config, self.directory = config, directory
        self.evaluate = lookup(config.eval.function, extra="train") if config.eval.function else None
        self.judge = make_judge(config.judge)
        envs = [make_env(config) for _ in range(config.rollout.parallel)]
        gate = ComputeGate()
        model, self.tokenizer = load_model(resolve_model(config.model), device=config.device)
        self.learner = Learner(model, config, gate)
        saved = checkpoints.complete(directory.checkpoints)
        self._trained = checkpoints.restore(saved[-1], self.learner) if saved else {}
        self.policy = EmbeddedPolicy.load(
            config.model,
            threads=config.threads,
            max_batch=config.rollout.parallel,
            gate=gate,
            device=config.device,
            prefix_tokens=PREFIX_TOKENS,
        )
        self._learner_thread = ThreadPoolExecutor(1, "learner", configure_torch, (config.threads,))
        directory.write_config(config)
        self.store = Store(directory.store)
        self.records = RecordWriter(directory.records)
        self.metrics = MetricsWriter(directory.root)
        self.metrics.rewind(self.learner.version)
        capacity = (config.rollout.max_staleness + 1) * config.batch_size
        self.pacer = Pacer(capacity, queued=self.store.queued(self.learner.version))
        self.judging = JudgeLoop(self.judge, workers=config.judge.workers, capacity=capacity)
        self.collector = Collector(envs, self.policy, self.judging, self.store, self.pacer, self.records, config)
        before = self.metrics.latest()
        self._earlier = {name: int(before.get(name, 0)) for name in COUNTERS}
        self._since = time.perf_counter()
        self._begun = self._since - before.get("time_s", 0.0)
        self._busy = self._busy_seconds()

    async def run(self) -> None:
        """Run the loops until the last update, or until one of them fails."""
        try:
            with Progress(self.config.updates) as self.progress:
                await self._run_loops()
        finally:
            await asyncio.to_thread(self._learner_thread.shutdown)
            await self.policy.aclose()
            await close_judge(self.judge)
            self.records.close()
            self.metrics.close()
            self.store.close()

    async def _run_loops(self) -> None:
        version = self.learner.version
        if version:
            await self.policy.update_weights(await self.in_learner(self.learner.state), version)
        learn = asyncio.create_task(self._learn())
        loops = [learn, asyncio.create_task(self.judging.run()), asyncio.create_task(self.collector.run())]
        reporter = asyncio.create_task(self._report())
        try:
            done, _ = await asyncio.wait(loops, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for loop in (*loops, reporter):
                loop.cancel()
            await asyncio.gather(*loops, reporter, return_exceptions=True)
        for loop in done:
            loop.result()

    async def in_learner(self, call: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        """Run `call` in the learner's thread: torch keeps its floating-point settings by thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._learner_thread, partial(call, *args, **kwargs))

    # --- the learn loop -----------------------------------------------------------------------------------------

    async def _learn(self) -> None:
        config = self.config
        await self._score()
        for version in range(self.learner.version + 1, config.updates + 1):
            units = await self._batch(version)
            figures, staleness = await self.in_learner(self._update, units, version)
            await self.policy.update_weights(await self.in_learner(self.learner.state), version)
            self.pacer.train(sum(unit.samples for unit in units))
            self._write(figures, staleness, units)
            if version % config.checkpoint.every == 0 or version == config.updates:
                await self.in_learner(self._save)
            await self._score()

    async def _batch(self, version: int) -> list[Unit]:
        while True:
            self.collector.accepted.clear()
            if units := await asyncio.to_thread(self.store.claim, version, self.config.batch_size):
                return units
            await self.collector.accepted.wait()

    def _update(self, units: list[Unit], version: int) -> tuple[UpdateFigures, list[int]]:
        sequences = to_sequences(units, self.config, self.learner, self.policy.renderer)
        staleness = [version - 1 - int(sequence.versions.min()) for sequence in sequences]
        figures = self.learner.update(sequences, version=version)
        release()
        self._trained |= {unit.id: version for unit in units}
        return figures, staleness

    def _save(self) -> None:
        keep = self.config.checkpoint.keep
        checkpoints.save(self.directory.checkpoints, self.learner, self.tokenizer, units=self._trained, keep=keep)

    async def _score(self) -> None:
        """Score the weights where that is due and was not done before a restart."""
        version = self.learner.version
        due = version % self.config.eval.every == 0 or version == self.config.updates
        if self.evaluate is None or not due or self.metrics.scored(version):
            return
        scores = await self.evaluate(self.policy, reference=ReferenceScorer(self), **self.config.eval.options)
        self.metrics.score({"version": version, "time_s": self._time()} | scores)
        self.progress.show(**{name: value for name, value in scores.items() if name == "score"})

    # --- what is shown and kept ---------------------------------------------------------------------------------

    def _write(self, figures: UpdateFigures, staleness: list[int], units: list[Unit]) -> None:
        rewards, self.collector.rewards = self.collector.rewards, []
        row = {
            "version": self.learner.version,
            "time_s": self._time(),
            "samples": sum(len(unit.episodes) for unit in units),
            "reward_mean": float(np.mean(rewards)) if rewards else float("nan"),
            "reward_std": float(np.std(rewards)) if rewards else float("nan"),
            **figures._asdict(),
            "staleness_mean": float(np.mean(staleness)) if staleness else float("nan"),
            "staleness_max": max(staleness, default=0),
            **self._counts(),
            **self._utilisation(),
        }
        self.metrics.update(row)
        self.progress.show(**row)

    async def _report(self) -> None:
        while True:
            self.progress.show(time_s=self._time(), **self._counts())
            await asyncio.sleep(1.0)

    def _counts(self) -> dict[str, int]:
        """Since the run began, as far as updates were recorded before a restart."""
        return {
            "turns_served": self._earlier["turns_served"] + self.collector.turns_served,
            "turns_judged": self._earlier["turns_judged"] + self.judging.judged,
            "turns_queued": self.pacer.queued,
            "judge_failed": self._earlier["judge_failed"] + self.judging.failed,
            "aborted": self._earlier["aborted"] + self.collector.aborted,
        }

    def _busy_seconds(self) -> dict[str, float]:
        gate = self.policy.gate.busy()
        return {
            "serve_util": gate["decode"],
            "rollout_util": self.collector.meter.seconds,
            "judge_util": self.judging.meter.seconds,
            "learn_util": gate["learn"],
        }

    def _utilisation(self) -> dict[str, float]:
        """Share of the time since the last call during which each loop was at work."""
        now, busy = time.perf_counter(), self._busy_seconds()
        span, before = now - self._since, self._busy
        self._since, self._busy = now, busy
        return {name: (busy[name] - before[name]) / span for name in busy}

    def _time(self) -> float:
        return time.perf_counter() - self._begun


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
