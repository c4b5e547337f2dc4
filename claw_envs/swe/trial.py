"""One trial of a patch: in a fresh sandbox it is applied, the hidden tests run, and swebench reads their log.

Each step is the official harness's own (`swebench.harness.run_evaluation`): the ways to apply a patch, what is cleaned
up between them, the script, how its log is read. Not covered: a log beyond `LOG_BYTES`, which is read without its
middle.
"""

import asyncio
from typing import NamedTuple

import msgspec

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import SandboxSpec, Task
from claw_envs.sandbox.base import Sandbox
from claw_envs.sandbox.lease import Lease
from claw_envs.swe.grading import START, Grade, eval_script, grade
from claw_envs.swe.instance import REPOSITORY, Instance, instance_of
from claw_envs.swe.recipe import sandbox_of
from claw_envs.swe.repository import ANY_OWNER

LOG_BYTES = 64_000_000
APPLY = (
    ("git", "apply", "--verbose"),
    ("git", "apply", "--verbose", "--3way"),
    ("git", "apply", "--verbose", "--reject"),
    ("patch", "--batch", "--forward", "--fuzz=5", "-p1", "-i"),
)
"""Ways to apply a patch; the next one where the last one fails."""
CLEAN = ("/bin/bash", "-c", "git checkout -- . ; git clean -fd")
"""What a way that failed has left behind makes every later one fail."""
IS_APPLIED = ("git", "apply", "--check", "--reverse")
_PATCH, _SCRIPT = "/tmp/patch.diff", "/tmp/eval.sh"
_GIT_TIMEOUT = 120.0


class Trial(NamedTuple):
    """What came of it."""

    status: str
    """`resolved`, `unresolved`, `timed_out` or `patch_failed` (it does not apply)."""
    grade: Grade
    log: str
    doubt: str = ""
    """Why the environment may be at fault, and not the patch; else empty."""


class Bench(NamedTuple):
    """What all trials for one verdict have in common; `prepare` makes it."""

    task: Task
    instance: Instance
    script: str
    spec: SandboxSpec
    lease: Lease


async def prepare(task: Task, lease: Lease) -> Bench:
    """Everything for trials of patches for `task`.

    Raises:
        UserError: if swebench is not installed or lacks the instance's log parser, or the task cannot run on this back
            end.
    """
    instance = instance_of(task)
    script = await asyncio.to_thread(eval_script, instance)
    spec = await sandbox_of(task, lease.backend)
    setup = tuple(task.verifier.options.get("setup", ()))  # the spec's own is for the agent: it takes tests away
    spec = msgspec.structs.replace(spec, setup=setup, output_bytes=LOG_BYTES, env=ANY_OWNER | spec.env)
    return Bench(task, instance, script, spec, lease)


async def try_patch(bench: Bench, patch: bytes | None) -> Trial:
    """Try `patch`, or with None the repository as it is. The sandbox stays in the lease.

    Raises:
        InfrastructureError: if the sandbox is lost, or has no repository.
    """
    sandbox = await bench.lease.take(bench.spec)
    await _put(sandbox, patch or b"", bench.script)
    if patch is not None:
        applied, said = await _apply(sandbox)
        if not applied:
            return Trial("patch_failed", Grade(resolved=False, readable=False), said)
    timeout = bench.task.verifier.timeout
    result = await sandbox.exec(["/bin/bash", _SCRIPT], timeout=timeout, cwd=REPOSITORY)
    if result.timed_out:
        doubt = f"the tests ran over their {timeout:g} s"
        return Trial("timed_out", Grade(resolved=False, readable=False), result.output, doubt)
    found = await asyncio.to_thread(grade, bench.instance, result.output)
    doubt = found.environment
    if START not in result.output:
        doubt = f"the tests did not begin (exit code {result.exit_code})"
    return Trial("resolved" if found.resolved else "unresolved", found, result.output, doubt)


async def _put(sandbox: Sandbox, patch: bytes, script: str) -> None:
    try:
        await sandbox.put(_PATCH, patch)
        await sandbox.put(_SCRIPT, script.encode())
    except OSError as error:
        raise InfrastructureError(f"the patch could not be copied into its sandbox: {error}") from None
    commit = await sandbox.exec(["git", "rev-parse", "--verify", "HEAD"], timeout=_GIT_TIMEOUT, cwd=REPOSITORY)
    if commit.exit_code != 0:
        raise InfrastructureError(f"no repository at {REPOSITORY} in a fresh sandbox: {commit.output.strip()}")


async def _apply(sandbox: Sandbox) -> tuple[bool, str]:
    """Whether the patch could be applied, and what all attempts said."""
    said: list[str] = []
    for way in APPLY:
        if said:
            await sandbox.exec(list(CLEAN), timeout=_GIT_TIMEOUT, cwd=REPOSITORY)
        result = await sandbox.exec([*way, _PATCH], timeout=_GIT_TIMEOUT, cwd=REPOSITORY)
        said.append(f"$ {' '.join(way)}\n{result.output}")
        if result.exit_code == 0:
            return True, ""
    check = await sandbox.exec([*IS_APPLIED, _PATCH], timeout=_GIT_TIMEOUT, cwd=REPOSITORY)
    return check.exit_code == 0, "\n".join(said)
