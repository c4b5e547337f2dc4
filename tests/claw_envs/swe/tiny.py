"""A repository of two files with an issue, as a task on the host's own system: enough for a verdict."""

import difflib
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.task import SandboxSpec, Task
from claw_envs.swe.instance import Instance, task_of

CALC = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n"
CHECK = """import sys
sys.path.insert(0, ".")
import calc


def test_sub():
    assert calc.sub(5, 3) == 2


failed = False
for name, test in sorted(vars().copy().items()):
    if name.startswith("test_"):
        try:
            test()
            print("PASSED", f"check.py::{name}")
        except Exception as error:
            failed = True
            print("FAILED", f"check.py::{name} - {error!r}")
sys.exit(failed)
"""


def diff(after: str, *, before: str = CALC, file: str = "calc.py") -> str:
    """A patch that makes `after` of a file of the repository."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{file}", f"b/{file}")
    return f"diff --git a/{file} b/{file}\n" + "".join(lines)


GOLD = diff(CALC.replace("a - b", "a + b", 1))
TEST_ADD = "def test_add():\n    assert calc.add(5, 3) == 8\n\n\n"
TEST_PATCH = diff(CHECK.replace("failed = False\n", f"{TEST_ADD}failed = False\n", 1), before=CHECK, file="check.py")
SCRIPT = """#!/bin/bash
set -uxo pipefail
cd /testbed
git checkout {base} check.py
git apply -v - <<'EOF_114329324912'
{patch}EOF_114329324912
: '>>>>> Start Test Output'
{command}
: '>>>>> End Test Output'
git checkout {base} check.py
"""
AUTHOR = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def make_task(folder: Path, *, command: str = "python3 check.py", timeout: float = 60.0, **fields: Any) -> Task:
    """The task, with its repository in `folder`.

    Args:
        command: what runs the tests.
        fields: of the instance, instead of its own.
    """
    repository = folder / "repository"
    repository.mkdir(parents=True)
    (repository / "calc.py").write_text(CALC)
    (repository / "check.py").write_text(CHECK)
    for words in ("init -q -b main .", "add .", "commit -q -m base"):
        subprocess.run(["git", *words.split()], cwd=repository, env={**AUTHOR, "PATH": "/usr/bin:/bin"}, check=True)
    shown = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True)
    base = shown.stdout.strip()
    instance = Instance(
        instance_id="tiny__calc-1",
        repo="tiny/calc",
        base_commit=base,
        problem_statement="add subtracts",
        patch=GOLD,
        test_patch=TEST_PATCH,
        eval_script=SCRIPT.format(base=base, patch=TEST_PATCH, command=command),
        log_parser="parse_log_pytest",
        fail_to_pass=("check.py::test_add",),
        pass_to_pass=("check.py::test_sub",),
    )
    sandbox = SandboxSpec(workdir="/testbed", files={"/testbed": str(repository)})
    return task_of(msgspec.structs.replace(instance, **fields), sandbox, timeout=timeout)


def new_file(file: str, text: str) -> str:
    """A patch that adds a file."""
    body = diff(text, before="", file=file).replace(f"--- a/{file}", "--- /dev/null", 1)
    return body.replace("\n", "\nnew file mode 100644\n", 1)
