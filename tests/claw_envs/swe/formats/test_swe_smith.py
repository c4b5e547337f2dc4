"""Rows of SWE-smith: the bug goes in, its tests go out, and the verdict has both, in real sandboxes."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.swe.formats.swe_smith import read
from claw_envs.swe.instance import Instance, instance_of
from tests.claw_envs.swe.formats.samples import shown_to_agent, verdicts
from tests.claw_envs.swe.tiny import CALC, CHECK, diff, make_task, new_file

FIXED = CALC.replace("a - b", "a + b", 1)
TESTS = CHECK.replace("failed = False\n", "def test_add():\n    assert calc.add(5, 3) == 8\n\n\nfailed = False\n", 1)
BUG = diff(CALC, before=FIXED)
PYTEST = "#!/bin/sh\nexec python3 check.py\n"
"""Stands in for pytest, whose summary check.py prints."""


def row(**columns: Any) -> dict[str, Any]:
    """A row as SWE-smith publishes it."""
    published = {
        "instance_id": "tiny__calc.0123abcd.func_pm_op_change__x1",
        "repo": "swesmith/tiny__calc.0123abcd",
        "patch": BUG,
        "FAIL_TO_PASS": ["check.py::test_add"],
        "PASS_TO_PASS": ["check.py::test_sub"],
        "image_name": "jyangballin/swesmith.x86_64.tiny_1776_calc.0123abcd",
        "problem_statement": "add subtracts",
    }
    return published | columns


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """The row's task on the host's own system, with what its image would hold: the repository before the bug."""
    made = make_task(tmp_path / "made")
    assert made.sandbox is not None
    repository = Path(made.sandbox.files["/testbed"])
    (repository / "calc.py").write_text(FIXED)
    (repository / "check.py").write_text(TESTS)
    (tmp_path / "pytest").write_text(PYTEST)
    (tmp_path / "pytest").chmod(0o755)
    files = {"/testbed": str(repository), "/opt/miniconda3/envs/testbed/bin/pytest": str(tmp_path / "pytest")}
    task = read(row())
    assert task.sandbox is not None
    commit = "git -C /testbed commit -qam fixed"
    env = task.sandbox.env | {
        f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    sandbox = msgspec.structs.replace(
        task.sandbox, image=None, files=files, setup=(commit, *task.sandbox.setup), env=env
    )
    options = task.verifier.options | {"setup": (commit, *task.verifier.options["setup"])}
    verifier = msgspec.structs.replace(task.verifier, options=options)
    return msgspec.structs.replace(task, sandbox=sandbox, verifier=verifier)


def instance(**columns: Any) -> Instance:
    return instance_of(read(row(**columns)))


def test_the_gold_patch_is_the_bug_turned_round() -> None:
    found = instance()
    assert sorted(found.patch.split("\n")) == sorted(diff(FIXED).split("\n"))
    assert (found.base_commit, found.log_parser) == ("HEAD", "parse_log_pytest")
    assert found.image == "jyangballin/swesmith.x86_64.tiny_1776_calc.0123abcd"


@pytest.mark.usefixtures("_usable")
def test_gold_resolves_and_neither_nothing_nor_own_tests_do(task: Task) -> None:
    gold = instance_of(task).patch
    forged = new_file("check.py", 'print("PASSED check.py::test_add")\nprint("PASSED check.py::test_sub")\n')
    statuses = [verdict.status for verdict in verdicts(task, gold, new_file("a", "b\n"), forged, gold + forged)]
    assert statuses == ["resolved", "unresolved", "unresolved", "resolved"]


@pytest.mark.usefixtures("_usable")
def test_the_agent_finds_neither_the_tests_nor_the_code_before_the_bug(task: Task) -> None:
    script = "ls; git log --oneline; git status --short; git cat-file --batch-all-objects --batch; cat calc.py"
    shown = shown_to_agent(task, script)
    assert "return a - b" in shown
    assert "a + b" not in shown
    assert "test_add" not in shown
    assert "check.py" not in shown
    assert shown.count(" base\n") == 1


def test_long_suites_run_the_files_that_decide_and_others_all() -> None:
    listed = {"FAIL_TO_PASS": ["tests/a.py::t"], "PASS_TO_PASS": ["tests/b.py::C::u[x]", "tests/a.py::v"]}
    assert "--verbose -rfEsxXp\n" in instance(**listed).eval_script
    script = instance(instance_id="dask__dask.5f61e423.lm_rewrite__a", **listed).eval_script
    assert "--verbose -rfEsxXp tests/a.py tests/b.py\n" in script
    assert "git ls-tree -r -z --name-only HEAD~1 -- tests/a.py tests/b.py |" in script


def test_unittest_names_give_files() -> None:
    found = instance(
        instance_id="tornadoweb__tornado.d5ac65c1.combine_file__a",
        FAIL_TO_PASS=["test_login (tornado.test.auth_test.AuthTest)"],
        PASS_TO_PASS=["test_x (tornado.test.web_test.WebTest)"],
    )
    assert "\npython -m tornado.test --verbose\n" in found.eval_script
    assert " HEAD~1 -- tornado/test/auth_test.py tornado/test/web_test.py |" in found.eval_script
    assert found.log_parser == "parse_log_django"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"problem_statement": None}, "no issue text"),
        ({"problem_statement": " \n"}, "no issue text"),
        ({"instance_id": "tiny__calc-1"}, r"is not OWNER__REPO\.COMMIT\.BUG"),
        ({"FAIL_TO_PASS": ["TestAdd/small"]}, "'TestAdd/small' is no Python test"),
        ({"FAIL_TO_PASS": []}, "FAIL_TO_PASS is empty"),
        ({"image_name": None}, "image_name"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(columns: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(row(**columns))
