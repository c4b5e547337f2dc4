"""Proof that a task is sound: its own solution scores 1, doing nothing scores 0."""

import asyncio
import time
from collections.abc import Sequence

import msgspec

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import run_sync
from claw_envs.core.task import Task
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import Sandbox
from claw_envs.terminal.harbor import load
from claw_envs.terminal.verifier import packed, verify


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """How one task fared.

    Attributes:
        oracle: score after the task's own solution; None where it could not be had.
        noop: score of an untouched sandbox; None where it could not be had.
        seconds: wall time of the two together.
        error: what went wrong, with the log's tail.
    """

    task_id: str
    oracle: float | None = None
    noop: float | None = None
    seconds: float = 0.0
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the task is sound."""
        return self.error is None and self.oracle == 1.0 and self.noop == 0.0


def validate_tasks(source: str | None = None, *, parallel: int = 4, backend: str = "namespace") -> list[Report]:
    """`validate` for scripts and the command line.

    Args:
        source: as for `claw_envs.terminal.harbor.load`.
        parallel: tasks in work at a time.
        backend: name of the sandbox backend.

    Raises:
        UserError: if the tasks cannot be loaded, or `parallel` is below 1.
    """
    return run_sync(validate(load(source), backend, parallel=parallel))


async def validate(tasks: Sequence[Task], backend: str = "namespace", *, parallel: int = 4) -> list[Report]:
    """Run solution and no-op of every task in real sandboxes; one report a task, in order."""
    if parallel < 1:
        raise UserError(f"parallel must be at least 1, got {parallel}")
    slots = asyncio.Semaphore(parallel)

    async def one(task: Task) -> Report:
        async with slots:
            return await _validate_one(task, backend)

    return list(await asyncio.gather(*(one(task) for task in tasks)))


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
            log = await _solve(sandbox, task)
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
    return Report(task_id=task.id, oracle=oracle, noop=noop, seconds=time.perf_counter() - started, error=error)


async def _solve(sandbox: Sandbox, task: Task) -> str:
    """Run the task's solution as the agent would; its log's tail."""
    folder = task.folder() / "solution"
    if not (folder / "solve.sh").is_file():
        raise UserError(f"{folder / 'solve.sh'}: missing; without a solution the task cannot be validated")
    assert task.sandbox is not None
    unpack = ["/bin/sh", "-c", "mkdir -p /solution && tar -xf - --no-same-owner -C /solution"]
    copied = await sandbox.exec(unpack, timeout=60.0, cwd="/", user="verifier", stdin=packed(folder))
    if copied.exit_code != 0:
        raise InfrastructureError(f"task {task.id}: cannot copy the solution in: {copied.output.strip()}")
    result = await sandbox.exec(
        ["/bin/bash", "/solution/solve.sh"], timeout=task.limits.episode_timeout, cwd=task.sandbox.workdir
    )
    if result.exit_code != 0:
        raise UserError(f"task {task.id}: solve.sh ended with {result.exit_code}: {result.output[-500:].strip()}")
    return result.output[-500:].strip()
