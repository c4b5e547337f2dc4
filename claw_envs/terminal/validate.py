"""Proof that terminal tasks are sound, whatever their format: the solution scores 1, an untouched sandbox 0."""

import time
from collections.abc import Sequence
from functools import partial

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.sandbox import make_sandbox
from claw_envs.soundness import Report, prove
from claw_envs.terminal.formats.solution import solve
from claw_envs.terminal.verifier import verify


async def validate(tasks: Sequence[Task], backend: str = "namespace", *, parallel: int = 4) -> list[Report]:
    """Run solution and no-op of every task in real sandboxes; one report a task, in order."""
    return await prove(tasks, partial(_validate_one, backend=backend), backend, parallel=parallel)


async def _validate_one(task: Task, backend: str) -> Report:
    started = time.perf_counter()
    oracle: float | None = None
    noop: float | None = None
    error: str | None = None
    try:
        assert task.sandbox is not None
        sandbox = make_sandbox(task.sandbox, backend)
        try:
            await sandbox.start()
            noop = (await verify(sandbox, task)).score
            await sandbox.reset()
            log = await solve(sandbox, task)
            outcome = await verify(sandbox, task)
            oracle = outcome.score
            if oracle != 1.0:
                error = f"the solution scores {oracle:g}; solution: {log} verifier: {outcome.report['log']}"
        finally:
            await sandbox.close()
    except (InfrastructureError, UserError) as failure:
        error = str(failure)
    if error is None and noop != 0.0:
        error = f"doing nothing scores {noop:g}"
    return Report(
        task_id=task.id,
        format=str(task.metadata.get("format", "")),
        backend=backend,
        oracle=oracle,
        noop=noop,
        seconds=time.perf_counter() - started,
        error=error,
    )
