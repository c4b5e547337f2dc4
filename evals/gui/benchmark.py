"""Benchmarks `miniwob`, `webapps` and `osworld`: tasks on a screen; the score is the environment's own verdict."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from claw_envs.core.env import ClawEnv
from claw_envs.core.tasksets import load_tasks
from claw_envs.gui.env import GuiEnv
from evals.benchmark import Benchmark
from evals.gui.official import write_official
from evals.gui.options import GuiOptions, OsworldOptions
from evals.gui.recorded import Recorded
from evals.gui.scoring import score
from evals.results import EpisodeResult
from evals.summary import Official
from trainers.policies.base import Sampling

RECORDINGS = "recordings"
"""Folder of the GIFs in that of the results."""


@asynccontextmanager
async def open_benchmark(tasks: str | None, options: GuiOptions, *, local: bool) -> AsyncIterator[Benchmark]:
    """The benchmark that `options` are of, for the command line; it is the same whether the model is local or not."""
    yield await asyncio.to_thread(benchmark, tasks, options)


def benchmark(tasks: str | None, options: GuiOptions) -> Benchmark:
    """The benchmark that `options` are of, over the task set, file or folder `tasks` (None: its own).

    Raises:
        UserError: if there is no such task set, or an option does not fit.
    """
    env_kwargs = options.env_kwargs()
    playable = GuiEnv(load_tasks("gui", tasks or options.source), **env_kwargs).tasks  # it warns of those left out
    chosen = playable[: options.limit]
    labels = {task.id: options.labels(task) for task in chosen}

    async def finish(folder: Path, model: str, results: Sequence[EpisodeResult]) -> Official | None:
        if isinstance(options, OsworldOptions):
            await asyncio.to_thread(write_official, folder, model, results, options, labels)
        return None

    def create_in(folder: Path) -> ClawEnv:
        first_of = options.seed if options.record == "first" else None
        return Recorded(chosen, record=folder / RECORDINGS, first_of=first_of, **env_kwargs)

    return Benchmark(
        name=options.name,
        family="gui",
        tasks=chosen,
        score=partial(score, figure=options.figure),
        sampling=Sampling(max_new_tokens=options.max_new_tokens, temperature=options.temperature),
        env_kwargs=env_kwargs,
        create_in=None if options.record == "none" else create_in,
        labels=labels,
        settings={"tasks": tasks},
        finish=finish,
    )
