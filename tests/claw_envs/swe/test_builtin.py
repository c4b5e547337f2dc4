"""The built-in tasks are well formed: what their files say of each other is so when it is run."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from claw_envs.swe.formats.task_repo import folders, read
from claw_envs.swe.instance import Instance, instance_of
from tests.claw_envs.swe.make_task import TESTS, at_base, git, replay, run_tests

ROOT = Path(__file__).parents[3] / "tasks" / "swe"
FOLDERS = folders(ROOT)


class Given(NamedTuple):
    """A task, and its repository with the whole history."""

    folder: Path
    instance: Instance
    repository: Path
    commits: list[str]

    def passing(self, patch: str) -> set[str]:
        """The hidden tests that pass with `patch`."""
        found = run_tests(at_base(self.repository, self.instance, patch), self.instance.eval_script)
        return {name for name, status in found.items() if status == "PASSED"}

    def mutation(self, name: str) -> str:
        return (ROOT / "mutations" / self.folder.name / name).read_text()


@pytest.fixture(scope="module", autouse=True)
def python() -> Iterator[None]:
    """The tasks' tests run with the pytest that runs these."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        yield


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def given(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Given:
    folder: Path = request.param
    repository = tmp_path_factory.mktemp(folder.name) / "repository"
    return Given(folder, instance_of(read(folder)), repository, replay(folder / "history", repository))


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


def test_the_history_is_the_base_then_the_fix(given: Given) -> None:
    instance, repository = given.instance, given.repository
    assert len(given.commits) >= 4
    assert given.commits[-2] == instance.base_commit
    at_base(repository, instance, instance.patch + instance.test_patch)
    git(repository, "add", "-A")
    assert git(repository, "write-tree") == git(repository, "rev-parse", f"{given.commits[-1]}^{{tree}}")
    assert instance.base_commit in (given.folder / "Dockerfile").read_text()


def test_the_patches_touch_what_they_should(given: Given) -> None:
    changed = git(given.repository, "diff", "--name-only", *given.commits[-2:]).split()
    package = [name for name in changed if not name.startswith(TESTS)]
    assert 1 <= len(package) <= 3
    assert all(f"diff --git a/{name} b/{name}" in given.instance.patch for name in package)
    assert set(changed) > set(package)


def test_the_base_has_no_hidden_test(given: Given) -> None:
    at_base(given.repository, given.instance)
    shown = "\n".join(path.read_text() for path in (given.repository / TESTS).rglob("*.py"))
    hidden = {name.rpartition("::")[2].partition("[")[0] for name in given.instance.fail_to_pass}
    assert [name for name in hidden if f"def {name}(" in shown] == []


def test_the_lists_of_tests_are_so(given: Given) -> None:
    to_fix, to_keep = set(given.instance.fail_to_pass), set(given.instance.pass_to_pass)
    assert len(to_fix) >= 2
    assert len(to_keep) >= 10
    assert given.passing("") == to_keep
    assert given.passing(given.instance.patch) == to_fix | to_keep


def test_half_a_fix_is_half_a_fix(given: Given) -> None:
    passing = given.passing(given.mutation("half.patch"))
    assert passing >= set(given.instance.pass_to_pass)
    assert set() < passing & set(given.instance.fail_to_pass) < set(given.instance.fail_to_pass)


def test_a_fix_that_breaks_something_fixes_and_breaks(given: Given) -> None:
    passing = given.passing(given.mutation("breaks.patch"))
    assert passing >= set(given.instance.fail_to_pass)
    assert not passing >= set(given.instance.pass_to_pass)
