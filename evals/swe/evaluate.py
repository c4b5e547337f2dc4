"""How well a policy repairs repositories, in memory: what a trainer calls during a run, by dotted name."""

import asyncio
import math

from evals.in_memory import figures_of
from evals.swe.benchmark import SweOptions, benchmark
from trainers.policies.base import Policy

_SHOWN = ("score", "score_low", "score_high", "fail_to_pass", "pass_to_pass", "submitted", "steps", "malformed")


async def evaluate(
    policy: Policy,
    *,
    reference: object = None,
    tasks: str | None = None,
    limit: int | None = None,
    samples: int = 1,
    max_new_tokens: int = 2048,
    temperature: float = 0.0,
    max_steps: int | None = None,
    step_timeout: float | None = None,
    tools: str | None = None,
    backend: str = "namespace",
    parallel: int = 8,
    seed: int = 0,
) -> dict[str, float]:
    """Score `policy` as it stands.

    Args:
        reference: not used; trainers pass one.
        tasks: task set, file or folder; None is the built-in set.
        limit: the first so many tasks.
        samples: episodes a task.
        max_new_tokens: length limit of one response, in tokens.
        temperature: 0 is greedy.
        max_steps, step_timeout, tools, backend: as in `SweOptions`.
        parallel: episodes at a time.
        seed: of task seeds and sampling.

    Returns:
        `score`, the share of resolved issues, with its 95 % interval `score_low`, `score_high`; `fail_to_pass`,
        `pass_to_pass`, `submitted`, `steps`, `malformed` (means over the episodes). The first two are NaN where no test
        ran. See `evals.swe.scoring.score`.

    Raises:
        UserError: if there is no such task set, or an option does not fit.
        InfrastructureError: if not one episode could be scored.
    """
    options = SweOptions(
        limit=limit,
        max_new_tokens=max_new_tokens,
        temperature=temperature,
        max_steps=max_steps,
        step_timeout=step_timeout,
        tools=tools,
        backend=backend,
    )
    ours = await asyncio.to_thread(benchmark, tasks, options)  # it may read files, or the hub
    figures = await figures_of(policy, ours, parallel=parallel, samples=samples, seed=seed)
    return {name: figures.get(name, math.nan) for name in _SHOWN}
