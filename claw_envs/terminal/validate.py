"""Proof that tasks are sound, whatever their format: a task's own solution scores 1, doing nothing scores 0."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import run_sync
from claw_envs.core.task import Task
from claw_envs.sandbox import check_backend, make_sandbox
from claw_envs.sandbox.docker.engine import connect
from claw_envs.terminal.formats.solution import solve
from claw_envs.terminal.loader import survey
from claw_envs.terminal.verifier import verify

_ERROR_WIDTH = 400


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """How one task fared.

    Attributes:
        format: the task's format; empty where it could not be loaded.
        backend: of the sandboxes.
        oracle: score after the task's own solution; None where it could not be had.
        noop: score of an untouched sandbox; None where it could not be had.
        seconds: wall time of the two together.
        error: what went wrong, with the log's tail.
    """

    task_id: str
    format: str = ""
    backend: str = ""
    oracle: float | None = None
    noop: float | None = None
    seconds: float = 0.0
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the task is sound."""
        return self.error is None and self.oracle == 1.0 and self.noop == 0.0


def validate_tasks(
    source: str | None = None,
    *,
    parallel: int = 4,
    backend: str = "namespace",
    network: str | None = None,
) -> list[Report]:
    """`validate` for scripts and the command line; tasks that cannot be loaded come last, with the reason.

    Args:
        source: as for `claw_envs.terminal.loader.load`.
        parallel: tasks in work at a time.
        backend: name of the sandbox backend.
        network: `none` or `full`, instead of every task's own.

    Raises:
        UserError: if there is no task at all, `parallel` is below 1, there is no such network or backend, or
            no container engine where one is needed.
    """
    if network not in (None, "none", "full"):
        raise UserError(f"network must be none or full, got {network!r}")
    tasks, faults = survey(source)
    if network is not None:
        tasks = [_on_network(task, network) for task in tasks]
    reports = run_sync(validate(tasks, backend, parallel=parallel))
    return reports + [Report(task_id=fault.name, backend=backend, error=fault.reason) for fault in faults]


async def validate(tasks: Sequence[Task], backend: str = "namespace", *, parallel: int = 4) -> list[Report]:
    """Run solution and no-op of every task in real sandboxes; one report a task, in order."""
    if parallel < 1:
        raise UserError(f"parallel must be at least 1, got {parallel}")
    check_backend(backend)  # what is wrong with all of them is said once
    if backend == "docker":
        await asyncio.to_thread(connect)
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


def table(reports: Sequence[Report]) -> str:
    """The reports as text, a line each with the head of its error, and how many tasks are sound."""
    rows = [f"{'task':<28} {'format':<14} {'backend':<9} {'solution':>8} {'nothing':>8} {'seconds':>8}"]
    for report in reports:
        solution, nothing = ("-" if score is None else f"{score:g}" for score in (report.oracle, report.noop))
        place = f"{report.task_id:<28} {report.format or '-':<14} {report.backend:<9}"
        error = " ".join((report.error or "ok").split())[:_ERROR_WIDTH]
        rows.append(f"{place} {solution:>8} {nothing:>8} {report.seconds:>8.1f}  {error}")
    return "\n".join([*rows, f"{sum(report.ok for report in reports)} of {len(reports)} tasks are sound"])


def write_json(reports: Sequence[Report], path: Path) -> None:
    """Write the reports to `path`, as a list of objects.

    Raises:
        UserError: if the file cannot be written.
    """
    rows = [msgspec.structs.asdict(report) | {"ok": report.ok} for report in reports]
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(rows)))
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error}") from None


def _on_network(task: Task, network: str) -> Task:
    assert task.sandbox is not None
    return msgspec.structs.replace(task, sandbox=msgspec.structs.replace(task.sandbox, network=network))
