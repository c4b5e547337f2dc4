"""How well a policy answers with tools, in memory: what a trainer calls during a run, by dotted name."""

import asyncio
import math

from claw_envs.wire.calls import Form
from evals.in_memory import figures_of
from evals.toolcall.benchmark import ToolCallOptions, benchmark
from trainers.policies.base import Policy

_SHOWN = ("score", "score_low", "score_high", "called", "valid_calls", "steps", "calls", "truncated")


async def evaluate(
    policy: Policy,
    *,
    reference: object = None,
    tasks: str = "procedural:heldout",
    limit: int | None = None,
    samples: int = 1,
    max_new_tokens: int = 256,
    temperature: float = 0.0,
    max_steps: int | None = None,
    tools: str | None = None,
    form: Form | None = None,
    few_shot: int | None = None,
    backend: str | None = None,
    parallel: int = 16,
    seed: int = 0,
) -> dict[str, float]:
    """Score `policy` as it stands.

    Args:
        reference: not used; trainers pass one.
        tasks: task set or file.
        limit: the first so many tasks.
        samples: episodes a task.
        max_new_tokens: length limit of one response, in tokens.
        temperature: 0 is greedy.
        max_steps: overrides every task's own limit of agent messages.
        tools, form, few_shot, backend: as in `ToolCallOptions`.
        parallel: episodes at a time.
        seed: of task seeds and sampling.

    Returns:
        `score`, the share of correct answers, with its 95 % interval `score_low`, `score_high`; `called`, `truncated`
        (shares of the episodes); `valid_calls`, `steps`, `calls` (means over the episodes). `valid_calls` is NaN where
        no episode called anything. See `evals.toolcall.scoring.score`.

    Raises:
        UserError: if there is no such task set, or an option does not fit.
        InfrastructureError: if not one episode could be scored.
    """
    options = ToolCallOptions(
        limit=limit,
        max_new_tokens=max_new_tokens,
        temperature=temperature,
        max_steps=max_steps,
        tools=tools,
        form=form,
        few_shot=few_shot,
        backend=backend,
    )
    ours = await asyncio.to_thread(benchmark, tasks, options)  # it may read files, or the hub
    figures = await figures_of(policy, ours, parallel=parallel, samples=samples, seed=seed)
    return {name: figures.get(name, math.nan) for name in _SHOWN}
