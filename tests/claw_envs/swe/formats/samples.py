"""Rows in each published layout, small enough to read, and real sandboxes of agent and verdict for them."""

import asyncio
from typing import Any

from claw_envs.core.task import Task
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.lease import Lease
from claw_envs.swe.instance import instance_of
from claw_envs.swe.repository import agent_spec
from claw_envs.swe.verdict import Verdict, judge_patch
from tests.claw_envs.swe.tiny import GOLD, TEST_PATCH

BASE = "0123456789abcdef0123456789abcdef01234567"
SCRIPT = """#!/bin/bash
set -uxo pipefail
source /opt/miniconda3/bin/activate
conda activate testbed
cd /testbed
: '>>>>> Start Test Output'
pytest -rA check.py
: '>>>>> End Test Output'
"""


def swe_bench4(**columns: Any) -> dict[str, Any]:
    """A row as SWE-bench 4 published it: lists as JSON text, nothing that says how to test."""
    row = {
        "repo": "tiny/calc",
        "instance_id": "tiny__calc-1",
        "base_commit": BASE,
        "patch": GOLD,
        "test_patch": TEST_PATCH,
        "problem_statement": "add subtracts\n",
        "hints_text": "",
        "created_at": "2020-01-01T00:00:00Z",
        "version": "1.0",
        "FAIL_TO_PASS": '["check.py::test_add"]',
        "PASS_TO_PASS": '["check.py::test_sub"]',
        "environment_setup_commit": BASE,
    }
    return row | columns


def swe_bench5(**columns: Any) -> dict[str, Any]:
    """A row as SWE-bench 5 publishes it."""
    more = {
        "FAIL_TO_PASS": ["check.py::test_add"],
        "PASS_TO_PASS": ["check.py::test_sub"],
        "eval_script": SCRIPT,
        "eval_type": "pass_and_fail",
        "log_parser": "parse_log_pytest",
        "image": "swebench/sweb.eval.x86_64.tiny_1776_calc-1:latest",
    }
    return swe_bench4() | more | columns


def verdicts(task: Task, *patches: str) -> list[Verdict]:
    """The verdict on each patch, each in fresh sandboxes."""

    async def main() -> list[Verdict]:
        lease = Lease()
        try:
            async with asyncio.timeout(120):
                return [await judge_patch(task, patch, lease=lease) for patch in patches]
        finally:
            await lease.give_back()

    return asyncio.run(main())


def shown_to_agent(task: Task, script: str) -> str:
    """What bash prints of `script` in the sandbox that the agent gets, at the repository."""
    assert task.sandbox is not None
    spec = agent_spec(task.sandbox, instance_of(task).base_commit, output_bytes=64_000)

    async def main() -> str:
        sandbox = make_sandbox(spec, "namespace")
        try:
            async with asyncio.timeout(60):
                await sandbox.start()
                return (await sandbox.exec(["/bin/bash", "-c", script], timeout=30, cwd="/testbed")).output
        finally:
            await sandbox.close()

    return asyncio.run(main())
