"""`Instance`: one row of a SWE-bench dataset, in the shape of SWE-bench 5, and the task that it becomes.

Every format is read into this; what verifies a patch reads nothing else. A row that has no `eval_script`, `log_parser`
or `image` (SWE-bench 4 kept them in its code) gets them from its recipe or from `claw_envs.swe.formats`.
"""

import re
from typing import Any, Literal

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.task import Limits, SandboxSpec, Task, VerifierSpec

REPOSITORY = "/testbed"
"""Where the repository lies in a sandbox, as in SWE-bench's images."""
LIMITS = Limits(max_steps=20, step_timeout=180.0, episode_timeout=3600.0)
SANDBOX = SandboxSpec(workdir=REPOSITORY, memory_mb=4096, pids=512, cpus=2.0, disk_mb=2048)
_ID = re.compile(r"[^./\s][^/\s]*")


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """One issue of one repository.

    Attributes:
        instance_id: as in `pallets__flask-5014`.
        base_commit: 40 hex digits; the commit is kept under this name in the sandbox. `HEAD` where a set-up makes it.
        problem_statement: the issue's text.
        patch: the gold patch, as git writes it.
        test_patch: what adds the hidden tests; `eval_script` applies it by itself.
        eval_script: bash that runs the tests between SWE-bench's two markers.
        log_parser: a name of `swebench.harness.log_parsers.PARSER_REGISTRY`, or of `claw_envs.swe.formats`.
        fail_to_pass: tests that only a right patch makes pass.
        pass_to_pass: tests that must go on passing.
        image: of the official harness.
    """

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    patch: str
    test_patch: str
    eval_script: str
    log_parser: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    eval_type: Literal["pass_and_fail", "fail_only"] = "pass_and_fail"
    version: str = ""
    image: str = ""
    hints_text: str = ""

    def row(self) -> dict[str, Any]:
        """The instance as a row of a SWE-bench 5 dataset, which the official harness takes."""
        fields = msgspec.structs.asdict(self)
        tests = {name: list(fields.pop(name.lower())) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")}
        return fields | tests


def task_of(
    instance: Instance, sandbox: SandboxSpec, *, timeout: float = 1800.0, metadata: dict[str, Any] | None = None
) -> Task:
    """The task of `instance` in `sandbox`.

    Args:
        timeout: seconds for the tests.
        metadata: what else is known of it, such as `format` and `difficulty`.

    Raises:
        UserError: if the instance's id cannot name a folder, as it does for the official harness.
    """
    if not _ID.fullmatch(instance.instance_id):
        raise UserError(f"instance_id {instance.instance_id!r} must be a name without slash and space")
    return Task(
        id=instance.instance_id,
        family="swe",
        instruction=instance.problem_statement,
        verifier=VerifierSpec(kind="swebench", timeout=timeout, options={"instance": instance}),
        limits=LIMITS,
        sandbox=sandbox,
        metadata={"repo": instance.repo, "version": instance.version} | (metadata or {}),
    )


def instance_of(task: Task) -> Instance:
    """The instance of a task, which may have come over a wire."""
    return msgspec.convert(task.verifier.options["instance"], Instance)
