"""`claw swe parity`: our verdict beside the official harness's, for patches of every kind, test by test.

Each patch of each task is judged by `claw_envs.swe.verdict` on every back end that is asked for, and by SWE-bench's own
harness, in one process, in containers of images that are built here. Not covered: tasks that do not fit an engine of
this machine, and time-outs.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import builtin, load_tasks
from claw_envs.sandbox import check_backend
from evals.swe import harness
from evals.swe.judges import OFFICIAL, Judged, ours, theirs
from evals.swe.mutations import MUTATIONS, patches


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One patch of one task, and what each judge says of it.

    Attributes:
        expected: whether it resolves, by its nature; None where that depends on the task.
        judged: by back end, and `official`.
    """

    task_id: str
    mutation: str
    patch: str
    expected: bool | None
    judged: dict[str, Judged]

    @property
    def same(self) -> bool:
        """Whether all judges say the same, of every test."""
        return all(each == self.judged[OFFICIAL] for each in self.judged.values())

    @property
    def ok(self) -> bool:
        """Whether they do, and say what such a patch is made for."""
        resolved = self.judged[OFFICIAL].status == "resolved"
        return self.same and self.expected in (None, resolved)


def parity(
    source: str | None,
    out: Path,
    *,
    backends: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
    mutations: Sequence[str] | None = None,
    written: Path | None = None,
    parallel: int = 2,
) -> list[Row]:
    """Judge patches of the tasks of `source` by everybody.

    Args:
        out: folder for the official harness's files; what it has from an earlier run is removed.
        backends: of our own verdicts; None: namespace and docker.
        only: ids of tasks; None: all.
        mutations: their names; None: all.
        written: folder of the patches that are written by hand; None: of the built-in tasks.
        parallel: patches that are judged at a time.

    Raises:
        UserError: if there is no such task, mutation, back end or patch, `out` is no folder, swebench is not installed,
            or no engine answers.
        InfrastructureError: if a patch cannot be made, or the official harness fails.
    """
    backends = backends or ("namespace", "docker")
    for backend in backends:
        check_backend(backend)
    known = [mutation.name for mutation in MUTATIONS]
    tasks = {task.id: task for task in load_tasks("swe", source)}
    chosen = [tasks[name] for name in _named("task", only, list(tasks))]
    names = _named("mutation", mutations, known)
    return asyncio.run(_parity(chosen, names, backends, written or builtin("swe") / "mutations", parallel, out))


def _named(what: str, wanted: Sequence[str] | None, known: Sequence[str]) -> Sequence[str]:
    if unknown := [name for name in wanted or () if name not in known]:
        raise UserError(f"no {what} {unknown[0]!r}: use {', '.join(known)}")
    return wanted or known


async def _parity(
    tasks: Sequence[Task], names: Sequence[str], backends: Sequence[str], written: Path, parallel: int, out: Path
) -> list[Row]:
    await harness.prepare(tasks)
    slots = asyncio.Semaphore(parallel)
    made = await asyncio.gather(*(_patches(task, names, written, backends[0], slots) for task in tasks))
    judged = [(task, name, patch) for task, of_task in zip(tasks, made, strict=True) for name, patch in of_task.items()]
    if not judged:
        raise UserError(f"there is no patch to judge: {', '.join(names)} are written by hand, and {written} has none")
    verdicts = {
        backend: await asyncio.gather(*(_one(task, patch, backend, slots) for task, _, patch in judged))
        for backend in backends
    }
    verdicts[OFFICIAL] = await theirs(judged, workers=parallel, out=out)
    expected = {mutation.name: mutation.resolves for mutation in MUTATIONS}
    return [
        Row(
            task_id=task.id,
            mutation=name,
            patch=patch,
            expected=expected[name],
            judged={judge: each[index] for judge, each in verdicts.items()},
        )
        for index, (task, name, patch) in enumerate(judged)
    ]


async def _patches(
    task: Task, names: Sequence[str], written: Path, backend: str, slots: asyncio.Semaphore
) -> dict[str, str]:
    async with slots:
        return await patches(task, names, written, backend)


async def _one(task: Task, patch: str, backend: str, slots: asyncio.Semaphore) -> Judged:
    async with slots:
        return await ours(task, patch, backend)


def table(rows: Sequence[Row]) -> str:
    """The rows as text, a line each, and how many verdicts are the same."""
    judges = list(rows[0].judged)
    lines = [f"{'task':<28} {'patch':<10} {'bytes':>7} " + " ".join(f"{judge:<22}" for judge in judges)]
    for row in rows:
        cells = " ".join(f"{_cell(row.judged[judge]):<22}" for judge in judges)
        remark = "same" if row.same else "DIFFERENT"
        if row.same and not row.ok:
            remark = "same, but not what such a patch is made for"
        lines.append(f"{row.task_id:<28} {row.mutation:<10} {len(row.patch.encode()):>7} {cells} {remark}")
        different = {judge: each for judge, each in row.judged.items() if each != row.judged[OFFICIAL]}
        lines += [f"    {judge}: {_difference(each, row.judged[OFFICIAL])}" for judge, each in different.items()]
    lists = [tests for row in rows for tests in (row.judged[OFFICIAL].fail_to_pass, row.judged[OFFICIAL].pass_to_pass)]
    counted = sum(len(tests.success) + len(tests.failure) for tests in lists)
    same = sum(row.same for row in rows)
    lines.append(
        f"{same} of {len(rows)} patches of {len({row.task_id for row in rows})} tasks are judged the same by "
        f"{', '.join(judges)}, with {counted} results of tests"
    )
    return "\n".join(lines)


def _cell(judged: Judged) -> str:
    """The verdict, and how many tests of each list pass."""
    tests = [each for each in (judged.fail_to_pass, judged.pass_to_pass) if each.success or each.failure]
    counts = [f"{len(each.success)}/{len(each.success) + len(each.failure)}" for each in tests]
    return " ".join([judged.status.partition(":")[0], *counts])


def _difference(judged: Judged, official: Judged) -> str:
    pairs = ((judged.fail_to_pass, official.fail_to_pass), (judged.pass_to_pass, official.pass_to_pass))
    tests = sorted(set().union(*(set(mine.success) ^ set(theirs.success) for mine, theirs in pairs)))
    applied = "applied" if judged.applied else "not applied"
    return f"{judged.status}, {applied}, tests that pass here or there only: {', '.join(tests) or 'none'}"
