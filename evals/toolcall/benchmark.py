"""What the tool-call benchmarks share: questions and function calls in the real environment.

The score is the environment's own verdict (1 correct, 0 not): training and evaluation cannot disagree on an answer.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.wire.calls import Form
from evals.benchmark import Benchmark, Options
from evals.summary import Share
from evals.toolcall.scoring import score
from trainers.policies.base import Sampling


class ToolCallOptions(Options):
    """Settings of `toolcall`, the built-in problems that no training run sees. The other benchmarks add theirs.

    Attributes:
        tools: `python`, `none`, or what else the environment takes, separated by commas; None leaves it to the
            environment, as with everything below.
        form: how the model is told to write calls; `openai` for native tool calls.
        few_shot: worked examples that every episode begins with.
        max_steps: overrides every task's own limit of agent messages.
        backend: name of the sandbox backend.
        server: URL of the environment server that runs the tasks; None runs them here.
    """

    name: ClassVar[str] = "toolcall"
    groups: ClassVar[tuple[str, ...]] = ("generator", "level")
    """What of a task's metadata the results are grouped by."""

    tools: str | None = None
    form: Form | None = None
    few_shot: int | None = None
    max_steps: int | None = None
    backend: str | None = None
    server: str | None = None
    max_new_tokens: int = 1024

    def sources(self) -> list[str]:
        """The task sets."""
        return ["procedural:heldout"]

    def chosen(self, tasks: Sequence[Task]) -> list[Task]:
        """Those of `tasks` that are run."""
        return list(tasks[: self.limit])

    def labels(self, task: Task) -> dict[str, str]:
        """What the results of `task` are grouped by."""
        return {name: str(task.metadata[name]) for name in self.groups if name in task.metadata}

    def shares(self, tasks: Sequence[Task]) -> dict[str, Share]:
        """What each task weighs, by its id; empty where all weigh the same."""
        return {}

    def env_kwargs(self) -> dict[str, Any]:
        """Arguments for the environment: what was set, so that a server is asked for nothing else."""
        names = None if self.tools is None else [name.strip() for name in self.tools.split(",")]
        given = {
            "tools": [] if names == ["none"] else names,
            "form": self.form,
            "few_shot": self.few_shot,
            "max_steps": self.max_steps,
            "backend": self.backend,
        }
        return {name: value for name, value in given.items() if value is not None}


@asynccontextmanager
async def open_benchmark(tasks: str | None, options: ToolCallOptions, *, local: bool) -> AsyncIterator[Benchmark]:
    """The benchmark that `options` are of, for the command line; it is the same whether the model is local or not."""
    if options.server is None:
        yield await asyncio.to_thread(benchmark, tasks, options)
    else:
        yield await asyncio.to_thread(served, options.server, tasks, options)


def benchmark(tasks: str | None, options: ToolCallOptions) -> Benchmark:
    """The benchmark that `options` are of, over the task set or file `tasks` (None: its own).

    Raises:
        UserError: if there is no such task set, or it cannot be had.
    """
    sources = [tasks] if tasks else options.sources()
    loaded = [task for source in sources for task in load_tasks("toolcall", source)]
    return _over(loaded, sources, options, env_kwargs=options.env_kwargs())


def served(server: str, tasks: str | None, options: ToolCallOptions) -> Benchmark:
    """The same, run by an environment server, which has the task set. Blocks until the server has described it.

    Raises:
        UserError: if the server does not offer these tasks or settings, or the benchmark is more than one task set.
    """
    from claw_envs.server.env import RemoteEnv

    sources = [tasks] if tasks else options.sources()
    if len(sources) > 1:
        raise UserError(f"an environment server runs one task set at a time: add --tasks with one of {sources}")
    settings = options.env_kwargs() | {"tasks": sources[0]}
    first = RemoteEnv("toolcall", server, **settings)

    def create() -> ClawEnv:
        return RemoteEnv("toolcall", server, described=first.described, **settings)

    return _over(first.tasks, sources, options, env_kwargs=options.env_kwargs(), create=create)


def _over(tasks: Sequence[Task], sources: Sequence[str], options: ToolCallOptions, **more: Any) -> Benchmark:
    chosen = options.chosen(tasks)
    return Benchmark(
        name=options.name,
        family="toolcall",
        tasks=chosen,
        score=score,
        sampling=Sampling(max_new_tokens=options.max_new_tokens, temperature=options.temperature),
        labels={task.id: options.labels(task) for task in chosen},
        shares=options.shares(chosen),
        settings={"tasks": list(sources), "server": options.server},
        **more,
    )
