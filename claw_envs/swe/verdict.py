"""The verdict on a patch, equal to the official harness's, in a sandbox that no agent was ever in.

What cannot be judged is tried again without the patch: where that cannot be judged either, the environment is at fault
(`InfrastructureError`); else the patch is, and does not resolve the issue. So no patch gets out of its verdict by
hanging, or by killing the tests.

Not covered: a patch that deceives the tests from within, by code of its own that runs with them, deceives the official
harness as well.
"""

import time
from collections import Counter
from typing import Any, NamedTuple

import msgspec

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from claw_envs.sandbox.lease import Lease
from claw_envs.swe.grading import Grade
from claw_envs.swe.trial import Bench, Trial, prepare, try_patch

LOG_LENGTH = 16_000
"""Characters of the log that a report keeps, from its end."""


class Verdict(NamedTuple):
    """What became of a patch.

    Attributes:
        resolved: whether every test of `FAIL_TO_PASS` and of `PASS_TO_PASS` passes.
        status: `resolved`, `unresolved`, `timed_out` (the tests run over their time with this patch, but not without
            it), `empty_patch`, `patch_failed` (it does not apply) or `patch_too_big`.
        report: `resolved`, `status`, `reason` (why no test was counted, else empty), `fail_to_pass` and `pass_to_pass`
            (tests as `success` and `failure`; empty where none was counted), `patch`, `log` (the tail of what the tests
            printed, or the attempts to apply), `flaky` (tests that did not come out the same again) and `seconds`.
    """

    resolved: bool
    status: str
    report: dict[str, Any]


async def judge_patch(task: Task, patch: str | None, *, lease: Lease, reruns: int = 1) -> Verdict:
    """Run the hidden tests of `task` on `patch`.

    Args:
        patch: as `git diff` writes it; None and an empty one resolve nothing, and nothing is run.
        lease: where the sandbox comes from; the last one stays in it.
        reruns: fresh sandboxes in which a patch that only breaks tests which passed before is tried again; where they
            do not agree, a further one decides. 0 trusts the first run.

    Raises:
        InfrastructureError: if the sandbox was lost, or the tests give no result without the patch either.
        UserError: if swebench is not installed, or the task cannot run on this back end.
    """
    if not patch:
        return unjudged("empty_patch", "there is no change")
    try:
        data = patch.encode()
    except UnicodeEncodeError as error:
        return unjudged("patch_failed", f"the patch is not UTF-8 text: {error}", patch=patch)
    started = time.perf_counter()
    bench = await prepare(task, lease)
    trials = [await _doubtless(bench, data)]
    if _only_breaks(trials[0]):
        while max(Counter(trial.status == "resolved" for trial in trials).values()) <= reruns:
            trials.append(await _doubtless(bench, data))
    report = _report(trials[-1], patch) | {"flaky": _flaky(trials), "seconds": time.perf_counter() - started}
    return Verdict(report["resolved"], report["status"], report)


def unjudged(status: str, reason: str, *, patch: str = "") -> Verdict:
    """The verdict on what never comes to the tests."""
    trial = Trial(status, Grade(resolved=False, readable=False), "", reason)
    return Verdict(False, status, _report(trial, patch) | {"flaky": [], "seconds": 0.0})


async def _doubtless(bench: Bench, patch: bytes) -> Trial:
    """A trial of `patch`, with the environment ruled out as what is at fault."""
    trial = await try_patch(bench, patch)
    if trial.doubt:
        control = await try_patch(bench, None)
        if control.doubt:
            raise InfrastructureError(
                f"task {bench.task.id}: no verdict: {trial.doubt}; without the patch: {control.doubt}; log: "
                f"{control.log.strip()[-LOG_LENGTH:]}"
            )
    return trial


def _only_breaks(trial: Trial) -> bool:
    """Whether it falls short only by tests that passed before, as flaky tests make it."""
    return not trial.grade.fail_to_pass.failure and bool(trial.grade.pass_to_pass.failure)


def _flaky(trials: list[Trial]) -> list[str]:
    """Tests that failed in some trials, but not in all of them."""
    readable = [trial.grade for trial in trials if trial.grade.readable]
    fails = Counter(test for grade in readable for test in (*grade.fail_to_pass.failure, *grade.pass_to_pass.failure))
    return sorted(test for test, count in fails.items() if count < len(readable))


def _report(trial: Trial, patch: str) -> dict[str, Any]:
    reason = trial.doubt
    if trial.status == "patch_failed" and not reason:
        reason = "the patch does not apply"
    elif trial.status == "unresolved" and not trial.grade.readable and not reason:
        reason = "the log has no results of tests, or contradicts the tests' exit code"
    return {
        "resolved": trial.grade.resolved,
        "status": trial.status,
        "reason": reason,
        "fail_to_pass": msgspec.to_builtins(trial.grade.fail_to_pass),
        "pass_to_pass": msgspec.to_builtins(trial.grade.pass_to_pass),
        "patch": patch,
        "log": trial.log.strip()[-LOG_LENGTH:],
    }
