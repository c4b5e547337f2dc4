"""Benchmark `terminal`: shell tasks in a sandbox; the score is the outcome of the task's own tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from claw_envs.core.episode import Episode
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from evals.benchmark import Benchmark, Options, Scored
from trainers.policies.base import Sampling


class TerminalOptions(Options):
    """Settings of the benchmark.

    Attributes:
        max_steps: overrides every task's own limit of agent messages.
        backend: name of the sandbox backend.
        network: `none` or `full`, overrides every task's own policy.
        outcome: the verifier's own number (`reward`), or 2 * passed / total - 1 over the `tests`.
    """

    max_steps: int | None = None
    backend: str = "namespace"
    network: Literal["none", "full"] | None = None
    outcome: Literal["reward", "tests"] = "reward"


async def score(episode: Episode, task: Task) -> Scored:
    """The verifier's outcome; beside it the number of agent messages and of sampled tokens."""
    tokens = sum(len(turn.response_ids) for turn in episode.turns)
    return Scored(episode.outcome or 0.0, {"steps": float(len(episode.turns)), "tokens": float(tokens)})


@asynccontextmanager
async def open_benchmark(tasks: str | None, options: TerminalOptions, *, local: bool) -> AsyncIterator[Benchmark]:
    """`benchmark` for the command line; nothing has to be opened for it, whether the model is local or not."""
    yield benchmark(tasks, options)


def benchmark(tasks: str | None, options: TerminalOptions) -> Benchmark:
    """The benchmark over the task set `tasks` (None: the built-in one).

    Raises:
        UserError: if there is no such task set.
    """
    return Benchmark(
        name="terminal",
        family="terminal",
        tasks=load_tasks("terminal", tasks)[: options.limit],
        score=score,
        sampling=Sampling(max_new_tokens=options.max_new_tokens, temperature=options.temperature),
        settings={"tasks": tasks},
        env_kwargs={
            name: value
            for name in ("max_steps", "backend", "network", "outcome")
            if (value := getattr(options, name)) is not None
        },
    )
