"""Benchmark `swebench`: issues of real repositories; the score is the hidden tests' verdict, as SWE-bench gives it."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from evals.benchmark import Benchmark, Options
from evals.results import EpisodeResult, mean_metrics
from evals.summary import Official
from evals.swe import harness
from evals.swe.predictions import write_predictions
from evals.swe.scoring import cost, score, total_cost
from trainers.policies.base import Sampling


class SweOptions(Options):
    """Settings of the benchmark.

    Attributes:
        max_steps, step_timeout: override every task's own limit of agent messages, and of seconds for one of them.
        backend: name of the sandbox backend.
        tools: beside the bash block: `true`, `false`, or names with commas; None leaves it to the environment.
        price_in, price_out: USD for a million tokens of prompts and of responses; both or none.
        harness: run SWE-bench's own harness on the predictions as well, and compare. Needs a Docker engine with the
            instances' images.
        harness_workers: instances that it judges at a time.
    """

    max_steps: int | None = None
    step_timeout: float | None = None
    backend: str = "namespace"
    tools: str | None = None
    price_in: float | None = None
    price_out: float | None = None
    harness: bool = False
    harness_workers: int = 2
    max_new_tokens: int = 2048

    def env_kwargs(self) -> dict[str, Any]:
        """Arguments for the environment: what was set."""
        given = {
            "max_steps": self.max_steps,
            "step_timeout": self.step_timeout,
            "backend": self.backend,
            "tools": _tools(self.tools),
        }
        return {name: value for name, value in given.items() if value is not None}


@asynccontextmanager
async def open_benchmark(tasks: str | None, options: SweOptions, *, local: bool) -> AsyncIterator[Benchmark]:
    """The benchmark for the command line; it is the same whether the model is local or not.

    Raises:
        UserError: if there is no such task set, an option does not fit, or the harness that is asked for cannot run.
    """
    ready = await asyncio.to_thread(benchmark, tasks, options)
    if options.harness:  # before hours of episodes, not after them
        await harness.prepare(ready.tasks)
    yield ready


def benchmark(tasks: str | None, options: SweOptions) -> Benchmark:
    """The benchmark over `tasks` (None: the built-in ones; `verified`, `lite` …: the hub's; or a path).

    Raises:
        UserError: if there is no such task set, or an option does not fit.
    """
    if (options.price_in is None) != (options.price_out is None):
        raise UserError("a cost needs both price_in and price_out, in USD for a million tokens")
    if not all(0 <= price < math.inf for price in (options.price_in or 0.0, options.price_out or 0.0)):
        raise UserError("price_in and price_out must be numbers from 0 up")
    if options.harness_workers < 1:
        raise UserError(f"harness_workers must be at least 1, got {options.harness_workers}")
    chosen = load_tasks("swe", tasks)[: options.limit]

    def metrics(results: Sequence[EpisodeResult]) -> dict[str, float]:
        prices = {"price_in": options.price_in, "price_out": options.price_out}
        given = {name: price for name, price in prices.items() if price is not None}
        return mean_metrics(results) | total_cost(results) | given

    async def finish(folder: Path, model: str, results: Sequence[EpisodeResult]) -> Official | None:
        await asyncio.to_thread(write_predictions, folder, model, results)
        if not options.harness:
            return None
        return await harness.judge(folder, results, chosen, workers=options.harness_workers)

    return Benchmark(
        name="swebench",
        family="swe",
        tasks=chosen,
        score=score,
        sampling=Sampling(max_new_tokens=options.max_new_tokens, temperature=options.temperature),
        env_kwargs=options.env_kwargs(),
        metrics=metrics,
        derive=partial(cost, price_in=options.price_in, price_out=options.price_out),
        labels={task.id: labels(task) for task in chosen},
        settings={"tasks": tasks},
        finish=finish,
    )


def labels(task: Task) -> dict[str, str]:
    """What the results of `task` are grouped by."""
    return {name: str(task.metadata[name]) for name in ("repo", "difficulty") if task.metadata.get(name)}


def _tools(text: str | None) -> bool | list[str] | None:
    if text is None:
        return None
    named = [name.strip() for name in text.split(",")]
    return {"true": True, "false": False, "none": False}.get(text.strip().lower(), named)
