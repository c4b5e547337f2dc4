"""Rows of SWE-Gym: the published image, the test command of the repository, SWE-bench's parser."""

from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.swe.formats.swe_gym import COMMANDS, read
from claw_envs.swe.instance import Instance, instance_of
from tests.claw_envs.swe.formats.samples import BASE, swe_bench4
from tests.claw_envs.swe.tiny import new_file


def row(repo: str, **columns: Any) -> dict[str, Any]:
    """A row in SWE-Gym's columns: lists are lists."""
    lists = {"FAIL_TO_PASS": ["check.py::test_add"], "PASS_TO_PASS": ["check.py::test_sub"]}
    return swe_bench4(repo=repo, instance_id=f"{repo.replace('/', '__')}-12", **lists) | columns


def instance(repo: str, **columns: Any) -> Instance:
    return instance_of(read(row(repo, **columns)))


def test_a_row_runs_in_the_published_image() -> None:
    task = read(row("Project-MONAI/MONAI"))
    assert task.sandbox is not None
    assert task.sandbox.image == "xingyaoww/sweb.eval.x86_64.project-monai_s_monai-12:latest"
    assert task.sandbox.env["PATH"].startswith("/opt/miniconda3/envs/testbed/bin:")
    assert task.metadata["format"] == "swe-gym"


def test_the_script_has_the_repositorys_command() -> None:
    lines = instance("getmoto/moto").eval_script.split("\n")
    assert lines[2:5] == ["exec 2>&1", "source /opt/miniconda3/bin/activate", "conda activate testbed"]
    assert f"git checkout {BASE} check.py" in lines
    assert "pytest -n0 -rA check.py" in lines
    assert "export PYTHONPATH=${PYTHONPATH:-}:/testbed" in instance("conan-io/conan").eval_script


def test_mypys_tests_are_chosen_by_their_cases() -> None:
    patch = new_file("test-data/unit/check-a.test", "[case testA]\n1\n[case testB-xfail]\n2\n")
    script = instance("python/mypy", test_patch=patch).eval_script
    assert "\npytest -n0 -rA -k 'testA or testB-xfail'\n" in script
    with pytest.raises(UserError, match="names no"):
        read(row("python/mypy"))


def test_every_parser_is_swebenchs() -> None:
    parsers = pytest.importorskip("swebench.harness.log_parsers").PARSER_REGISTRY
    patch = new_file("a.test", "[case testA]\n")
    assert {instance(repo, test_patch=patch).log_parser for repo in COMMANDS} <= set(parsers)


def test_an_unknown_repository_is_refused() -> None:
    with pytest.raises(UserError, match="no repository 'pallets/flask'"):
        read(row("pallets/flask"))
