"""What a family plugs into the runner: a `Benchmark` says which tasks, where they run, how they are scored."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Episode
from claw_envs.core.task import Task
from claw_envs.families import family as lookup
from evals.results import EpisodeResult, mean_metrics
from evals.summary import Official, Share
from trainers.policies.base import Policy, Sampling


class Scored(NamedTuple):
    """What a benchmark says of one episode."""

    score: float
    metrics: dict[str, float] = {}
    ending: str = ""


Scorer = Callable[[Episode, Task], Awaitable[Scored]]
"""Scores one episode that was not aborted. May raise InfrastructureError: the episode is aborted and retried."""


Finish = Callable[[Path, str, Sequence[EpisodeResult]], Awaitable[Official | None]]
"""Called with the results' folder, the model's name and all results, once they and the summary are on disk. What it
returns is added to the summary."""


def _as_it_is(policy: Policy) -> Policy:
    return policy


def _nothing_more(result: EpisodeResult) -> dict[str, float]:
    return {}


async def _just_end(folder: Path, model: str, results: Sequence[EpisodeResult]) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark.

    Attributes:
        name: what results are filed under.
        family: environment family that the tasks belong to.
        tasks: what is run, in this order.
        score: how an episode is scored.
        sampling: how the policy is sampled; the runner sets the seed.
        wrap: what stands between the runner and the policy that it is given.
        env_kwargs: for the environment's constructor.
        metrics: the summary's further figures; by default the mean of every metric.
        derive: further metrics of a result that is on disk already, for the summary: what a call may change (prices).
        finish: what else is done at the end, such as files in other programs' formats.
        labels: by a task's id, what it is grouped by in the summary, such as `{"year": "2024"}`.
        shares: by a task's id, what it weighs; where there are none all weigh the same.
        create: makes an environment in place of the family's own; it must know the tasks by their ids.
        create_in: the same for environments that leave files in the results' folder, which it is given; used where
            there is one.
        settings: what else distinguishes this run from another, in plain values; goes into the report.
    """

    name: str
    family: str
    tasks: Sequence[Task]
    score: Scorer
    sampling: Sampling
    wrap: Callable[[Policy], Policy] = _as_it_is
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    metrics: Callable[[Sequence[EpisodeResult]], dict[str, float]] = mean_metrics
    derive: Callable[[EpisodeResult], dict[str, float]] = _nothing_more
    finish: Finish = _just_end
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    shares: Mapping[str, Share] = field(default_factory=dict)
    create: Callable[[], ClawEnv] | None = None
    create_in: Callable[[Path], ClawEnv] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def placed(self, folder: Path) -> "Benchmark":
        """The same benchmark, with its results in `folder`."""
        return self if self.create_in is None else replace(self, create=partial(self.create_in, folder))

    def make_env(self) -> ClawEnv:
        """A new environment over the benchmark's tasks."""
        if self.create is not None:
            return self.create()
        module, name = lookup(self.family).env.split(":")
        env: ClawEnv = getattr(import_module(module), name)(tasks=self.tasks, **self.env_kwargs)
        return env


class Options(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a user may set for any benchmark; a benchmark adds its own.

    Attributes:
        samples: episodes a task.
        limit: only the first so many tasks.
        seed: of task seeds and sampling.
        max_new_tokens: length limit of one response, in tokens.
        temperature: 0 is greedy.
        timeout: seconds for one response of an endpoint, its retries included.
    """

    samples: int = 1
    limit: int | None = None
    seed: int = 0
    max_new_tokens: int = 256
    temperature: float = 0.0
    timeout: float = 600.0
