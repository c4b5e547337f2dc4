"""Rows of R2E-Gym: the statuses of all tests must be the expected ones, in real sandboxes; the agent sees no test."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.swe.formats.r2e_gym import read
from claw_envs.swe.instance import instance_of
from tests.claw_envs.swe.formats.samples import shown_to_agent, verdicts
from tests.claw_envs.swe.tiny import CALC, GOLD, diff, make_task, new_file

SHORT = "=== short test summary info ==="
TESTS = f'''import sys
sys.path.insert(0, ".")
import calc

print("PASSED r2e_tests/test_1.py::forged")
print("{SHORT}")
add = calc.add(5, 3)
print("\\x1b[32mPASSED\\x1b[0m r2e_tests/test_1.py::\\x1b[1mTestCalc::test_sub[a b]\\x1b[0m")
print("PASSED" if add == 8 else "FAILED", "r2e_tests/test_1.py::test_add" + ("" if add == 8 else " - assert 2 == 8"))
print("FAILED r2e_tests/test_1.py::test_broken - it always is")
if hasattr(calc, "more"):
    print("PASSED r2e_tests/test_1.py::test_more")
sys.exit(1)
'''
EXPECTED = {"TestCalc.test_sub[a b]": "PASSED", "\x1b[1mtest_add\x1b[0m": "PASSED", "test_broken - it is": "FAILED"}


def commit() -> dict[str, Any]:
    """The fix, as R2E-Gym parses commits."""

    def line(text: str) -> dict[str, str]:
        return {"content": text[1:], "type": {" ": "context", "+": "added", "-": "deleted"}[text[0]]}

    head, *lines = GOLD.rstrip("\n").split("\n")[3:]
    spans = [{"start": 1, "length": 5}, {"start": 1, "length": 5}]
    assert head == "@@ -1,5 +1,5 @@"
    hunk = {
        "descriptor": {"old_range": spans[0], "new_range": spans[1], "section": ""},
        "line_group": {"all_lines": [line(text) for text in lines]},
        "modified_entities": [],
    }
    paths = {"minus_file": {"path": "a/calc.py"}, "plus_file": {"path": "b/calc.py"}}
    added = {
        "descriptor": {
            "old_range": {"start": 0, "length": 0},
            "new_range": {"start": 1, "length": None},
            "section": "",
        },
        "line_group": {"all_lines": [line("+1")]},
    }
    return {
        "file_diffs": [
            {"header": {"file": {"path": "calc.py"}, "misc_line": None}, "hunks": [hunk], **paths},
            {
                "header": {"file": {"path": "tests/test_x.py"}, "misc_line": "new file mode 100644"},
                "minus_file": {"path": "/dev/null"},
                "plus_file": {"path": "b/tests/test_x.py"},
                "hunks": [added],
            },
            {"header": {"file": {"path": "logo.png"}}, "is_binary_file": True, "binary_line": "Binary files differ"},
        ],
        "old_commit_hash": "abc^",
        "new_commit_hash": "abc",
    }


def row(**columns: Any) -> dict[str, Any]:
    """A row as R2E-Gym publishes it."""
    published = {
        "repo_name": "calc",
        "docker_image": "namanjain12/calc_final:0123456789abcdef",
        "commit_hash": "0123456789abcdef",
        "parsed_commit_content": json.dumps(commit()),
        "execution_result_content": "{}",
        "problem_statement": "[ISSUE]\nadd subtracts\n[/ISSUE]\n",
        "expected_output_json": json.dumps(EXPECTED),
    }
    return published | columns


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """The row's task on the host's own system, with what its image would hold."""
    made = make_task(tmp_path / "made")
    assert made.sandbox is not None
    repository = Path(made.sandbox.files["/testbed"])
    (repository / "run_tests.sh").write_text("python3 r2e_tests/test_1.py\n")
    (repository / "install.sh").write_text("uv venv\n")
    (repository / ".venv").mkdir()
    (repository / ".venv" / "big").write_text("data\n")
    tests = tmp_path / "r2e_tests"
    tests.mkdir()
    (tests / "test_1.py").write_text(TESTS)
    task = read(row())
    assert task.sandbox is not None
    files = {"/testbed": str(repository), "/r2e_tests": str(tests)}
    return msgspec.structs.replace(task, sandbox=msgspec.structs.replace(task.sandbox, image=None, files=files))


def test_a_row_becomes_a_task() -> None:
    task = read(row())
    instance = instance_of(task)
    assert (task.id, task.instruction) == ("calc__0123456789ab", "add subtracts")
    assert instance.patch == GOLD
    assert instance.test_patch == new_file("tests/test_x.py", "1\n")
    assert instance.fail_to_pass == (
        "TestCalc.test_sub[a_b]=PASSED",
        "test_add=PASSED",
        "test_broken=FAILED",
        "number=3",
    )
    assert task.sandbox is not None
    assert task.sandbox.image == "namanjain12/calc_final:0123456789abcdef"


@pytest.mark.usefixtures("_usable")
def test_only_the_expected_statuses_resolve(task: Task) -> None:
    more = diff(CALC.replace("a - b", "a + b", 1) + "\n\nmore = 1\n")
    forged = new_file("r2e_tests/test_1.py", f'print("{SHORT}")\n') + new_file("run_tests.sh", "true\n")
    patches = [GOLD, new_file("a", "b\n"), more, GOLD + forged]
    statuses = [verdict.status for verdict in verdicts(task, *patches)]
    assert statuses == ["resolved", "unresolved", "unresolved", "resolved"]


@pytest.mark.usefixtures("_usable")
def test_an_expected_error_without_a_tests_name(task: Task, tmp_path: Path) -> None:
    lines = f"{SHORT}\\nPASSED r2e_tests/test_1.py::test_add\\nERROR r2e_tests/test_2.py - ImportError: x\\n"
    (tmp_path / "r2e_tests" / "test_1.py").write_text(f'import sys\nprint("{lines}")\nsys.exit(1)\n')
    expected = instance_of(read(row(expected_output_json=json.dumps({"test_add": "PASSED", "": "ERROR"}))))
    options = task.verifier.options | {"instance": expected}
    verifier = msgspec.structs.replace(task.verifier, options=options)
    (verdict,) = verdicts(msgspec.structs.replace(task, verifier=verifier), GOLD)
    assert verdict.report["fail_to_pass"]["success"] == ["test_add=PASSED", "=ERROR", "number=2"]


@pytest.mark.usefixtures("_usable")
def test_the_agent_finds_no_test(task: Task) -> None:
    script = "ls -A / /testbed; git status --short; git ls-files; git cat-file --batch-all-objects --batch"
    shown = shown_to_agent(task, script)
    assert "r2e" not in shown
    assert "run_tests" not in shown
    assert "always is" not in shown
    assert ".venv/big" not in shown
    assert "install.sh" in shown


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"expected_output_json": "{}"}, "expected_output_json is empty"),
        ({"expected_output_json": "["}, "not an R2E-Gym row"),
        ({"parsed_commit_content": "{}"}, "file_diffs"),
        ({"docker_image": None}, "docker_image"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(columns: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(row(**columns))
