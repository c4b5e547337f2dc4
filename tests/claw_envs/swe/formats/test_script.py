"""Scripts for instances that have none: SWE-bench's shape, and what becomes of files that the agent wrote before."""

import subprocess
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.swe.formats.rows import columns
from claw_envs.swe.formats.script import files_of, here_document, script_of
from claw_envs.swe.instance import Instance, instance_of
from tests.claw_envs.swe.formats.samples import BASE, swe_bench4, verdicts
from tests.claw_envs.swe.tiny import CHECK, GOLD, TEST_PATCH, make_task, new_file

ADDED = new_file("tests/test new.py", CHECK)
RENAMED = """diff --git a/tests/old.py b/tests/new.py
similarity index 100%
rename from tests/old.py
rename to tests/new.py
"""
DELETED = """diff --git a/tests/gone.py b/tests/gone.py
deleted file mode 100644
--- a/tests/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-diff --git a/x b/y
"""


def instance(**fields: str) -> Instance:
    return columns(swe_bench4(**fields)).instance()


def test_the_shape_of_a_script() -> None:
    assert script_of(instance(), "pytest -rA", before=["export A=1"]).split("\n") == [
        "#!/bin/bash",
        "set -uxo pipefail",
        "exec 2>&1",
        "export A=1",
        "cd /testbed",
        f"git checkout {BASE} check.py",
        "git apply -v - <<'EOF_PATCH'",
        *TEST_PATCH.rstrip("\n").split("\n"),
        "EOF_PATCH",
        ": '>>>>> Start Test Output'",
        "pytest -rA check.py",
        ": '>>>>> End Test Output'",
        f"git checkout {BASE} check.py",
        "",
    ]


def test_which_files_a_patch_changes() -> None:
    data = new_file("tests/data.json", "{}\n")
    assert files_of(TEST_PATCH + ADDED + RENAMED + DELETED + data) == [
        ("check.py", "check.py"),
        (None, "tests/test new.py"),
        ("tests/old.py", "tests/new.py"),
        ("tests/gone.py", None),
        (None, "tests/data.json"),
    ]


def test_added_renamed_and_deleted_files_and_data() -> None:
    patch = ADDED + RENAMED + DELETED + new_file("tests/data.json", "{}\n")
    script = script_of(instance(test_patch=patch), "pytest")
    assert f"\ngit checkout {BASE} tests/old.py tests/gone.py\n" in script
    assert "\nrm -rf -- 'tests/test new.py' tests/new.py tests/data.json\n" in script
    assert "\npytest 'tests/test new.py' tests/new.py\n" in script


def test_nothing_to_check_out_where_all_files_are_new() -> None:
    assert "git checkout" not in script_of(instance(test_patch=ADDED), "pytest")


def test_a_test_patch_without_files_is_refused() -> None:
    with pytest.raises(UserError, match="changes no file"):
        script_of(instance(test_patch=""), "pytest")


@pytest.mark.parametrize("text", ["a\n", "no newline", "", "$HOME `id` \\ 'x'\r\n", "EOF_PATCH\nEOF_PATCH_\nend\n"])
def test_a_here_document_is_read_as_it_is(text: str) -> None:
    shell = subprocess.run(["/bin/bash", "-c", f"cat {here_document(text)}"], capture_output=True, check=True)
    assert shell.stdout.decode() == (text if text.endswith("\n") else text + "\n")


@pytest.mark.usefixtures("_usable")
def test_the_verdict_by_such_a_script(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    script = script_of(instance_of(task), "python3")
    gold, useless = verdicts(make_task(tmp_path / "again", eval_script=script), GOLD, new_file("notes.txt", "x\n"))
    assert (gold.status, useless.status) == ("resolved", "unresolved")


@pytest.mark.usefixtures("_usable")
def test_an_agents_file_where_the_test_patch_adds_one_decides_nothing(tmp_path: Path) -> None:
    hidden = CHECK.replace(
        "failed = False\n", "def test_add():\n    assert calc.add(5, 3) == 8\n\n\nfailed = False\n", 1
    )
    hidden = hidden.replace("check.py::", "hidden.py::")
    patch = new_file("hidden.py", hidden)
    base = instance_of(make_task(tmp_path)).base_commit
    script = script_of(instance(base_commit=base, test_patch=patch), "python3")
    task = make_task(
        tmp_path / "again",
        eval_script=script,
        test_patch=patch,
        fail_to_pass=("hidden.py::test_add",),
        pass_to_pass=("hidden.py::test_sub",),
    )
    forged = new_file("hidden.py", 'print("PASSED hidden.py::test_add")\nprint("PASSED hidden.py::test_sub")\n')
    assert [verdict.status for verdict in verdicts(task, forged, GOLD + forged)] == ["unresolved", "resolved"]
