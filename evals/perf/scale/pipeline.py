"""The whole pipeline put together: serve | roll out | judge | learn, as `trainers.async_trainer` runs it."""

from collections import Counter
from collections.abc import Callable
from typing import Literal

import msgspec

from evals.perf.scale.admission import Admission
from evals.perf.scale.clock import Clock
from evals.perf.scale.curve import Curve, update_seconds
from evals.perf.scale.engine import Limits
from evals.perf.scale.fleet import Fleet
from evals.perf.scale.learner import Learner
from evals.perf.scale.rollout import Rollout
from evals.perf.scale.station import Station
from evals.perf.scale.table import Table

Mode = Literal["sync", "async", "partial"]
"""`sync`: all GPUs serve, then all learn. `async`: some serve while others learn, and new weights wait until every
response that is being sampled has ended. `partial`: the same, but responses stop for the weights and go on with them,
as in the bundled trainer and in OpenRLHF's partial roll-out."""


class Plan(msgspec.Struct, kw_only=True, frozen=True):
    """A cluster and a run on it."""

    gpus: int
    learning: int
    """GPUs that learn; with `sync` all but the judges' do both."""
    judging: int = 0
    environments: int
    mode: Mode = "partial"
    batch: int
    """Samples an update."""
    max_staleness: int = 1
    warm: int = 3
    """Updates before anything is counted."""
    updates: int = 6
    """Updates that count."""
    seed: int = 0

    @property
    def serving(self) -> int:
        """GPUs that serve."""
        rest = self.gpus - self.judging
        return rest if self.mode == "sync" else rest - self.learning

    @property
    def capacity(self) -> int:
        """Samples in flight and queued, at most."""
        return (1 if self.mode == "sync" else self.max_staleness + 1) * self.batch


class Tally(msgspec.Struct, kw_only=True):
    """What is counted from the warm-up's end on; areas are integrals over time."""

    at: float
    samples: int
    turns: int
    tokens: float
    trained_tokens: float
    sequence_area: float
    engine_area: float
    host_area: float
    judge_area: float
    learn_seconds: float
    idle_area: float
    staleness: Counter[int]


class Pipeline:
    """One simulation."""

    def __init__(self, table: Table, plan: Plan, curve: Curve) -> None:
        """
        Args:
            curve: of an engine.
        """
        self.table, self.plan = table, plan
        self.clock = Clock()
        serving, judging = table.serving, table.judging
        limits = Limits(serving.max_sequences, serving.kv_tokens)
        self.fleet = Fleet(self.clock, curve, limits, plan.serving // serving.gpus)
        self.hosts = Station(self.clock, table.hosts.cores + table.hosts.cores_per_gpu * plan.gpus)
        workers = plan.judging * judging.per_gpu or judging.workers
        self.judges = Station(self.clock, workers, room=plan.capacity)
        self.admission = Admission(plan.capacity)
        self.learner = Learner(
            self.clock, batch=plan.batch, update=self._update_seconds, publish=self._publish, trained=self._trained
        )
        self.rollout = Rollout(
            self.clock,
            table,
            environments=plan.environments,
            seed=plan.seed,
            admission=self.admission,
            fleet=self.fleet,
            hosts=self.hosts,
            judges=self.judges,
            accept=self.learner.offer,
        )

    def run(self) -> tuple[Tally, Tally]:
        """Simulate; returns what was counted at the end of the warm-up and at the end of the run."""
        learner, plan = self.learner, self.plan
        self.rollout.begin()
        self.clock.run(lambda: learner.version < plan.warm)
        before = self.tally()
        self.clock.run(lambda: learner.version < plan.warm + plan.updates)
        return before, self.tally()

    def tally(self) -> Tally:
        """What has been counted until now."""
        sequences, engines = self.fleet.areas()
        return Tally(
            at=self.clock.now,
            samples=self.learner.samples,
            turns=self.rollout.turns,
            tokens=self.rollout.tokens,
            trained_tokens=self.learner.tokens,
            sequence_area=sequences,
            engine_area=engines,
            host_area=self.hosts.area(),
            judge_area=self.judges.area(),
            learn_seconds=self.learner.seconds,
            idle_area=self.rollout.idle_area(),
            staleness=self.learner.staleness.copy(),
        )

    def _update_seconds(self, tokens: float, longest: float) -> float:
        seconds = update_seconds(self.table.learning, self.plan.learning, tokens, longest)
        return seconds + (self.table.sync.switch_s if self.plan.mode == "sync" else 0.0)

    def _publish(self, published: Callable[[], None]) -> None:
        def install() -> None:
            self.fleet.pause()
            self.clock.after(self.table.sync.seconds, arrived)

        def arrived(_: None) -> None:
            self.rollout.version += 1
            self.fleet.resume()
            published()

        if self.plan.mode == "partial":
            install()
        else:
            self.fleet.drain(install)

    def _trained(self, version: int, samples: int) -> None:
        assert version == self.rollout.version
        self.admission.train(samples)
