"""Proof that SWE tasks are sound: the gold patch resolves, and without it just the tests fail that it is to repair.

Not covered: a test that passes by chance; it is run once with the gold patch, twice where it broke something.
"""

import time
from collections.abc import Sequence
from functools import partial

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.sandbox.lease import Lease
from claw_envs.soundness import Report, prove
from claw_envs.swe.instance import instance_of
from claw_envs.swe.trial import Trial, prepare, try_patch
from claw_envs.swe.verdict import LOG_LENGTH, Verdict, judge_patch

_SHOWN = 3


async def validate(tasks: Sequence[Task], backend: str = "namespace", *, parallel: int = 2) -> list[Report]:
    """Run the hidden tests of every task with its gold patch and without it; one report a task, in order."""
    return await prove(tasks, partial(_validate_one, backend=backend), backend, parallel=parallel)


async def _validate_one(task: Task, backend: str) -> Report:
    started = time.perf_counter()
    oracle: float | None = None
    noop: float | None = None
    error: str | None = None
    lease = Lease(backend)
    try:
        before = await try_patch(await prepare(task, lease), None)
        noop = float(before.grade.resolved)
        gold = await judge_patch(task, instance_of(task).patch, lease=lease)
        oracle = float(gold.resolved)
        error = _wrong_before(before) or _wrong_after(gold)
    except (InfrastructureError, UserError) as failure:
        error = str(failure)
    finally:
        await lease.give_back()
    return Report(
        task_id=task.id,
        format=str(task.metadata.get("format", "")),
        backend=backend,
        oracle=oracle,
        noop=noop,
        seconds=time.perf_counter() - started,
        error=error,
    )


def _wrong_before(before: Trial) -> str | None:
    """What is wrong with the tests' results without a patch."""
    if not before.grade.readable:
        reason = before.doubt or "their log has no results"
        return f"no verdict on the tests without a patch: {reason}; log: {_tail(before)}"
    if passing := before.grade.fail_to_pass.success:
        return f"of FAIL_TO_PASS pass without a patch: {_some(passing)}"
    if failing := before.grade.pass_to_pass.failure:
        return f"of PASS_TO_PASS fail without a patch, or are not run: {_some(failing)}; log: {_tail(before)}"
    return None


def _wrong_after(gold: Verdict) -> str | None:
    """What is wrong with the tests' results with the gold patch."""
    report = gold.report
    if report["flaky"]:
        return f"with the gold patch pass at times only: {_some(report['flaky'])}"
    if gold.resolved:
        return None
    failing = [*report["fail_to_pass"]["failure"], *report["pass_to_pass"]["failure"]]
    return f"with the gold patch {report['reason'] or f'fail: {_some(failing)}'}; log: {report['log']}"


def _tail(trial: Trial) -> str:
    return trial.log.strip()[-LOG_LENGTH:]


def _some(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - _SHOWN} more" if len(tests) > _SHOWN else ""
    return ", ".join(tests[:_SHOWN]) + more
