"""The built-in tasks are well formed: what their files say of each other is so when it is run."""

import os
import sys
from pathlib import Path

import pytest

from claw_envs.swe.formats.task_repo import folders, read
from claw_envs.swe.instance import Instance, instance_of
from tasks.swe.make import TESTS, at_base, git, replay, run_tests

ROOT = Path(__file__).parents[3] / "tasks" / "swe"
FOLDERS = folders(ROOT)
each_task = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


@pytest.fixture(autouse=True)
def python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tasks' tests run with the pytest that runs these."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


def _given(folder: Path, tmp_path: Path) -> tuple[Instance, Path, list[str]]:
    repository = tmp_path / "repository"
    return instance_of(read(folder)), repository, replay(folder / "history", repository)


def _passing(instance: Instance, repository: Path, patch: str) -> set[str]:
    found = run_tests(at_base(repository, instance, patch), instance.eval_script)
    return {name for name, status in found.items() if status == "PASSED"}


def test_there_are_at_least_ten() -> None:
    assert len(FOLDERS) >= 10


def test_the_official_check_finds_no_fault() -> None:
    checks = pytest.importorskip("swebench.task.checks")
    assert [str(problem) for problem in checks.check_task_repo(ROOT)] == []


def test_every_task_has_a_repository_of_its_own() -> None:
    instances = [instance_of(read(folder)) for folder in FOLDERS]
    assert len({instance.base_commit for instance in instances}) == len(FOLDERS)
    assert len({instance.repo for instance in instances}) == len(FOLDERS)


def test_all_share_one_environment() -> None:
    assert len({(folder / "recipe.toml").read_text() for folder in FOLDERS}) == 1


@each_task
def test_the_history_is_the_base_then_the_fix(folder: Path, tmp_path: Path) -> None:
    instance, repository, commits = _given(folder, tmp_path)
    assert len(commits) >= 4
    assert commits[-2] == instance.base_commit
    at_base(repository, instance, instance.patch + instance.test_patch)
    git(repository, "add", "-A")
    assert git(repository, "write-tree") == git(repository, "rev-parse", f"{commits[-1]}^{{tree}}")
    assert instance.base_commit in (folder / "Dockerfile").read_text()


@each_task
def test_the_patches_touch_what_they_should(folder: Path, tmp_path: Path) -> None:
    instance, repository, (*_, base, fix) = _given(folder, tmp_path)
    changed = git(repository, "diff", "--name-only", base, fix).split()
    package = [name for name in changed if not name.startswith(TESTS)]
    assert 1 <= len(package) <= 3
    assert all(f"diff --git a/{name} b/{name}" in instance.patch for name in package)
    assert set(changed) > set(package)


@each_task
def test_the_base_has_no_hidden_test(folder: Path, tmp_path: Path) -> None:
    instance, repository, _ = _given(folder, tmp_path)
    at_base(repository, instance)
    shown = "\n".join(path.read_text() for path in (repository / TESTS).rglob("*.py"))
    hidden = {name.rpartition("::")[2].partition("[")[0] for name in instance.fail_to_pass}
    assert [name for name in hidden if f"def {name}(" in shown] == []


@each_task
def test_the_lists_of_tests_are_so(folder: Path, tmp_path: Path) -> None:
    instance, repository, _ = _given(folder, tmp_path)
    to_fix, to_keep = set(instance.fail_to_pass), set(instance.pass_to_pass)
    assert len(to_fix) >= 2
    assert len(to_keep) >= 10
    assert _passing(instance, repository, "") == to_keep
    assert _passing(instance, repository, instance.patch) == to_fix | to_keep


@each_task
def test_half_a_fix_is_half_a_fix(folder: Path, tmp_path: Path) -> None:
    instance, repository, _ = _given(folder, tmp_path)
    passing = _passing(instance, repository, (ROOT / "mutations" / folder.name / "half.patch").read_text())
    assert passing >= set(instance.pass_to_pass)
    assert set() < passing & set(instance.fail_to_pass) < set(instance.fail_to_pass)


@each_task
def test_a_fix_that_breaks_something_fixes_and_breaks(folder: Path, tmp_path: Path) -> None:
    instance, repository, _ = _given(folder, tmp_path)
    passing = _passing(instance, repository, (ROOT / "mutations" / folder.name / "breaks.patch").read_text())
    assert passing >= set(instance.fail_to_pass)
    assert not passing >= set(instance.pass_to_pass)
