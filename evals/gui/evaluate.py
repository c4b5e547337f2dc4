"""How well a policy does on a screen, in memory: what a trainer calls during a run, by dotted name."""

import asyncio
import math
from typing import Any, Literal

from claw_envs.core.settings import read_settings
from evals.gui.benchmark import benchmark
from evals.gui.options import GuiOptions, MiniwobOptions, OsworldOptions, WebappsOptions
from evals.in_memory import figures_of
from trainers.policies.base import Policy

_SHOWN = ("score", "score_low", "score_high", "success", "reward", "steps", "malformed", "errors")
_OPTIONS: dict[str, type[GuiOptions]] = {kind.name: kind for kind in (MiniwobOptions, WebappsOptions, OsworldOptions)}


async def evaluate(
    policy: Policy,
    *,
    reference: object = None,
    kind: Literal["miniwob", "webapps", "osworld"] = "webapps",
    tasks: str | None = None,
    samples: int = 1,
    parallel: int = 8,
    **settings: Any,
) -> dict[str, float]:
    """Score `policy` as it stands. Nothing is recorded.

    Args:
        reference: not used; trainers pass one.
        kind: the benchmark.
        tasks: task set, file or folder; None is the benchmark's own.
        samples: episodes a task.
        parallel: episodes at a time.
        settings: other options of the benchmark, such as `limit`, `seed`, `max_steps`, `max_new_tokens`.

    Returns:
        `score` with its 95 % interval `score_low`, `score_high`; `success`, `reward`, `steps`, `malformed`, `errors`
        (means over the episodes). See `evals.gui.scoring.score`.

    Raises:
        UserError: if there is no such task set or setting.
        InfrastructureError: if not one episode could be scored.
    """
    given = {"record": "none", **settings}
    options = read_settings(given, _OPTIONS[kind], said="[eval.options]")
    ours = await asyncio.to_thread(benchmark, tasks, options)  # it may read many files
    figures = await figures_of(policy, ours, parallel=parallel, samples=samples, seed=options.seed)
    return {name: figures.get(name, math.nan) for name in _SHOWN}
