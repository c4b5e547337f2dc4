"""Who judges patches in `claw swe parity`: our verdict on a back end, and the official harness, in the same words."""

import asyncio
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.sandbox.lease import Lease
from claw_envs.swe.grading import Outcomes
from claw_envs.swe.instance import instance_of
from claw_envs.swe.verdict import judge_patch
from evals.swe import harness

OFFICIAL = "official"
_MODEL = "parity"
_APPLIED = ">>>>> Applied Patch"


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge says of one patch.

    Attributes:
        status: `resolved`, `unresolved`, `empty_patch`, `error` (a patch that does not apply, tests that run over), or
            `no verdict: ` and why.
        applied: whether the patch could be applied.
        fail_to_pass, pass_to_pass: tests as `success` and `failure`; empty where none was counted.
    """

    status: str
    applied: bool
    fail_to_pass: Outcomes = Outcomes()
    pass_to_pass: Outcomes = Outcomes()


async def ours(task: Task, patch: str, backend: str) -> Judged:
    """What our verdict is in a sandbox of `backend`."""
    lease = Lease(backend)
    try:
        verdict = await judge_patch(task, patch, lease=lease)
    except (InfrastructureError, UserError) as error:
        return Judged(status=f"no verdict: {error}", applied=False)
    finally:
        await lease.give_back()
    report = verdict.report
    return Judged(
        status="error" if verdict.status in ("patch_failed", "timed_out") else verdict.status,
        applied=verdict.status not in ("patch_failed", "empty_patch"),
        fail_to_pass=Outcomes(**report["fail_to_pass"]),
        pass_to_pass=Outcomes(**report["pass_to_pass"]),
    )


async def theirs(judged: Sequence[tuple[Task, str, str]], *, workers: int, out: Path) -> list[Judged]:
    """What the official harness says, in one process. It takes one patch an instance, so each is one of its own.

    Args:
        judged: task, name of the patch, patch.
        workers: instances at a time.
        out: folder for the harness's files; what it has from an earlier run is removed.

    Raises:
        InfrastructureError: if the harness fails.
        UserError: if `out` is no folder.
    """
    place = out / "harness"
    await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"{place} cannot be made ({error.strerror}); choose another --out") from error
    variants = [_renamed(task, f"{task.id}.{name}") for task, name, _ in judged]
    predictions = out / "predictions.jsonl"
    lines = [
        json.dumps({"instance_id": variant.id, "model_name_or_path": _MODEL, "model_patch": patch})
        for variant, (_, _, patch) in zip(variants, judged, strict=True)
    ]
    predictions.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    statuses = await harness.run(place, predictions, variants, workers=workers)
    logs = place / "logs" / "run_evaluation" / harness.run_name(predictions) / _MODEL
    return [_official(logs / variant.id, variant.id, statuses.get(variant.id, "no verdict")) for variant in variants]


def _renamed(task: Task, name: str) -> Task:
    instance = msgspec.structs.replace(instance_of(task), instance_id=name)
    verifier = msgspec.structs.replace(task.verifier, options={"instance": instance})
    return msgspec.structs.replace(task, id=name, verifier=verifier)


def _official(folder: Path, name: str, status: str) -> Judged:
    log, report = folder / "run_instance.log", folder / "report.json"
    applied = log.is_file() and _APPLIED in log.read_text(encoding="utf-8", errors="replace")
    tests: dict[str, Any] = {}
    if report.is_file():
        tests = json.loads(report.read_bytes())[name].get("tests_status", {})
    lists = {key.lower(): Outcomes(**tests[key]) for key in ("FAIL_TO_PASS", "PASS_TO_PASS") if key in tests}
    return Judged(status=status, applied=applied, **lists)
