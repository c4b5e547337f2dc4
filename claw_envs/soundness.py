"""`claw tasks validate`: proof that tasks are sound, whatever their family.

A task is sound where its own solution is scored 1 and doing nothing 0. How both are had is the family's business; this
is what the families share, and the way from a source to its family.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.loop import run_sync
from claw_envs.core.survey import Survey
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.lookup import lookup
from claw_envs.sandbox import check_backend
from claw_envs.sandbox.docker.engine import connect

_ERROR_WIDTH = 400


class Judged(Protocol):
    """A msgspec struct that says whether all is well."""

    @property
    def ok(self) -> bool:
        """Whether it is."""
        ...


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """How one task fared.

    Attributes:
        format: the task's format; empty where it could not be loaded.
        backend: of the sandboxes.
        oracle: score of the task's own solution; None where it could not be had.
        noop: score of doing nothing; None where it could not be had.
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
    parallel: int = 2,
    backend: str = "namespace",
    network: str | None = None,
) -> list[Report]:
    """Prove the tasks of any source; those that cannot be loaded come last in their family, with the reason.

    Args:
        source: of terminal, SWE or web application tasks, as their loaders take it; or built-in ones by name:
            `terminal`, `swe`, `webapps` (`gui` is the same) or `desktop`, or a part of the latter two, such as
            `webapps/shop`. None is the first two, which need no screen.
        parallel: tasks in work at a time.
        backend: name of the sandbox backend.
        network: `none` or `full`, instead of every task's own.

    Raises:
        UserError: if there is no task at all, or GUI tasks that have no solution, `parallel` is below 1, there is no
            such network or backend, no container engine or browser where one is needed, or no way to choose the
            network.
    """
    from claw_envs.gui.miniwob import loader as miniwob_loader
    from claw_envs.gui.osworld import loader as osworld_loader
    from claw_envs.gui.webapps import loader as webapps_loader
    from claw_envs.swe import loader as swe_loader
    from claw_envs.swe import validate as swe
    from claw_envs.terminal import loader as terminal_loader
    from claw_envs.terminal import validate as terminal

    webapps = (webapps_loader.survey, _validate_gui)
    families: dict[str, tuple[Callable[[str | None], Survey], Callable[..., Coroutine[Any, Any, list[Report]]]]] = {
        "terminal": (terminal_loader.survey, terminal.validate),
        "swe": (swe_loader.survey, swe.validate),
        "gui": webapps,
        "webapps": webapps,
        "desktop": (lambda _: Survey(load_tasks("gui", "desktop"), []), _validate_gui),
        "part": (lambda part: Survey(load_tasks("gui", part), []), _validate_gui),
    }
    if source is None:
        chosen = ["terminal", "swe"]
    elif source in families:
        chosen, source = [source], None
    elif source.startswith(("webapps/", "desktop/")) and not Path(source).expanduser().exists():
        chosen = ["part"]
    elif miniwob_loader.recognises(source) or osworld_loader.recognises(source):
        raise UserError(
            f"{source}: these tasks have no solution to prove them by; of GUI tasks webapps, desktop, parts of them "
            "such as webapps/shop, and folders with tasks in web applications can be proved"
        )
    elif webapps_loader.recognises(source):
        chosen = ["webapps"]
    else:
        chosen = ["swe" if swe_loader.recognises(source) else "terminal"]
    reports: list[Report] = []
    for survey, validate in (families[name] for name in chosen):
        tasks, faults = survey(source)
        reports += run_sync(validate(on_network(tasks, network), backend, parallel=parallel))
        reports += [Report(task_id=fault.name, backend=backend, error=fault.reason) for fault in faults]
    return reports


async def _validate_gui(tasks: Sequence[Task], backend: str, *, parallel: int) -> list[Report]:
    """GUI tasks have solutions that an agent of `evals` follows."""
    validate = lookup("evals.gui.experts.sound:validate", extra="gui")
    reports: list[Report] = await validate(tasks, backend, parallel=parallel)
    return reports


async def prove(
    tasks: Sequence[Task], check: Callable[[Task], Awaitable[Report]], backend: str, *, parallel: int
) -> list[Report]:
    """`check` every task; one report a task, in order.

    Raises:
        UserError: if `parallel` is below 1, there is no such backend, or no container engine where one is needed.
    """
    if parallel < 1:
        raise UserError(f"parallel must be at least 1, got {parallel}")
    check_backend(backend)  # what is wrong with all of them is said once
    if backend == "docker":
        await asyncio.to_thread(connect)
    slots = asyncio.Semaphore(parallel)

    async def one(task: Task) -> Report:
        async with slots:
            return await check(task)

    return list(await asyncio.gather(*(one(task) for task in tasks)))


def on_network(tasks: Sequence[Task], network: str | None) -> list[Task]:
    """The tasks on another network than their own; None leaves them that.

    Raises:
        UserError: if it is neither `none` nor `full`, or a task has no sandbox, whose network it would be.
    """
    if network not in (None, "none", "full"):
        raise UserError(f"network must be none or full, got {network!r}")

    def moved(task: Task) -> Task:
        if task.sandbox is None:
            raise UserError(f"task {task.id} has no sandbox whose network could be chosen: leave the network out")
        return msgspec.structs.replace(task, sandbox=msgspec.structs.replace(task.sandbox, network=network))

    return list(tasks) if network is None else [moved(task) for task in tasks]


def table(reports: Sequence[Report]) -> str:
    """The reports as text, a line each with the head of its error, and how many tasks are sound."""
    rows = [f"{'task':<28} {'format':<14} {'backend':<9} {'solution':>8} {'nothing':>8} {'seconds':>8}"]
    for report in reports:
        solution, nothing = ("-" if score is None else f"{score:g}" for score in (report.oracle, report.noop))
        place = f"{report.task_id:<28} {report.format or '-':<14} {report.backend:<9}"
        error = " ".join((report.error or "ok").split())[:_ERROR_WIDTH]
        rows.append(f"{place} {solution:>8} {nothing:>8} {report.seconds:>8.1f}  {error}")
    return "\n".join([*rows, f"{sum(report.ok for report in reports)} of {len(reports)} tasks are sound"])


def write_json(reports: Sequence[Judged], path: Path) -> None:
    """Write reports to `path`, as a list of objects; each with `ok` beside its fields.

    Raises:
        UserError: if the file cannot be written.
    """
    rows = [msgspec.to_builtins(report) | {"ok": report.ok} for report in reports]
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(rows)))
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error}") from error
