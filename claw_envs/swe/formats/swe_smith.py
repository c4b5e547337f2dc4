"""Rows of SWE-smith: bugs that were put into Python repositories, whose images hold the repository without them.

`patch` makes the bug; the gold patch is its reverse. The officials fetch a branch of two commits: the bug, and the
removal of the test files of `FAIL_TO_PASS`. Here the same two commits are made in the sandbox without a network, for
the agent and for the verdict alike, so the base commit has no name known ahead: it is `HEAD`. The verdict gets the test
files from the commit before it, which the agent's repository does not have.

As with the officials (swesmith 0.0.9, profiles/python.py and harness/utils.py) all test files are put back before the
tests run, and the whole suite runs unless it is long. pytest is asked for a summary of every test, which SWE-bench's
own parser reads. Not covered: repositories in other languages, and rows without an issue text.
"""

import re
import shlex

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.rows import Row
from claw_envs.core.task import Task
from claw_envs.swe.formats.images import sandbox_for
from claw_envs.swe.formats.reverse import reversed_patch
from claw_envs.swe.formats.script import COMMIT, END, START, here_document
from claw_envs.swe.instance import REPOSITORY, Instance, task_of

_PYTEST = "pytest --disable-warnings --color=no --tb=no --verbose -rfEsxXp"
"""`-rA` without what passing tests print."""
_COMMANDS = {
    "tkrajina__gpxpy": _PYTEST.replace("pytest", "pytest test.py", 1),
    "mido__mido": f"{_PYTEST} -c /dev/null",
    "pydantic__pydantic": f"/root/.local/bin/uv run {_PYTEST}",
    "un33k__python-slugify": "python test.py --verbose",
    "tornadoweb__tornado": "python -m tornado.test --verbose",
}
"""Test command by repository, where it is not `_PYTEST`."""
_UNITTEST = {"un33k__python-slugify", "tornadoweb__tornado"}
"""Repositories whose tests print as unittest does, which SWE-bench's parser for Django reads."""
_LONG = {
    *("conan-io__conan", "dask__dask", "getmoto__moto", "iterative__dvc", "modin-project__modin", "pandas-dev__pandas"),
    *("Project-MONAI__MONAI", "python__mypy", "scrapy__scrapy", "sqlfluff__sqlfluff", "sunpy__sunpy", "sympy__sympy"),
    "tobymao__sqlglot",
}
"""Repositories of which only the files with tests that decide are run."""
_ID = re.compile(r"(?P<repo>[^/]+__[^/]+)\.[0-9a-f]{8}\.[^/]+")
_UNITTEST_NAME = re.compile(r"\S+ \((?P<module>[\w.]+)\.\w+\)")


class _SmithRow(msgspec.Struct, kw_only=True):
    instance_id: str
    repo: str
    patch: str
    image_name: str
    fail_to_pass: tuple[str, ...] = msgspec.field(name="FAIL_TO_PASS")
    pass_to_pass: tuple[str, ...] = msgspec.field(name="PASS_TO_PASS")
    problem_statement: str | None = None


def read(row: Row) -> Task:
    """The task of a row.

    Raises:
        UserError: if a column is missing or wrong, there is no issue text, or the repository is not in Python.
    """
    try:
        got = msgspec.convert(row, _SmithRow)
    except msgspec.ValidationError as error:
        raise UserError(f"not a SWE-smith row: {error}") from error
    named = _ID.fullmatch(got.instance_id)
    if named is None:
        raise UserError(f"instance_id {got.instance_id!r} is not OWNER__REPO.COMMIT.BUG")
    if not (got.problem_statement and got.problem_statement.strip()):
        raise UserError("it has no issue text (problem_statement)")
    repo = named["repo"]
    failing, all_files = (_files(repo, tests) for tests in (got.fail_to_pass, got.fail_to_pass + got.pass_to_pass))
    if not failing:
        raise UserError("FAIL_TO_PASS is empty, so nothing would show that a patch is right")
    instance = Instance(
        instance_id=got.instance_id,
        repo=got.repo,
        base_commit="HEAD",
        problem_statement=got.problem_statement,
        patch=reversed_patch(got.patch),
        test_patch="",
        eval_script=_script(repo, all_files),
        log_parser="parse_log_django" if repo in _UNITTEST else "parse_log_pytest",
        fail_to_pass=got.fail_to_pass,
        pass_to_pass=got.pass_to_pass,
        image=got.image_name,
    )
    setup = _bug(got.patch, failing)
    sandbox = msgspec.structs.replace(sandbox_for(instance), setup=setup)
    task = task_of(instance, sandbox, metadata={"format": "swe-smith"})
    verifier = msgspec.structs.replace(task.verifier, options=task.verifier.options | {"setup": setup})
    return msgspec.structs.replace(task, verifier=verifier)


def _bug(patch: str, failing: list[str]) -> tuple[str, ...]:
    """The commands that put the bug into a repository without it, and take the tests away that show it."""
    return (
        f"cd {REPOSITORY} && git apply -v - {here_document(patch)}",
        f"cd {REPOSITORY} && {COMMIT}",
        f"cd {REPOSITORY} && rm -f -- {shlex.join(failing)} && {COMMIT}",
    )


def _script(repo: str, files: list[str]) -> str:
    command = _COMMANDS.get(repo, _PYTEST)
    lines = [
        "#!/bin/bash",
        "set -uxo pipefail",
        "source /opt/miniconda3/bin/activate",
        "conda activate testbed",
        f"cd {REPOSITORY}",
        f"git ls-tree -r -z --name-only HEAD~1 -- {shlex.join(files)} | xargs -0 -r git checkout HEAD~1 --",
        f": '{START}'",
        f"{command} {shlex.join(files)}" if repo in _LONG else command,
        f": '{END}'",
    ]
    return "\n".join(lines) + "\n"


def _files(repo: str, tests: tuple[str, ...]) -> list[str]:
    """The test files of tests, as paths from the repository.

    Raises:
        UserError: if a test's name does not begin with the path of a Python file.
    """
    if repo == "un33k__python-slugify":
        return ["test.py"]
    if repo == "tornadoweb__tornado":
        modules = {found["module"] for test in tests if (found := _UNITTEST_NAME.fullmatch(test))}
        return sorted(f"{module.replace('.', '/')}.py" for module in modules)
    files = {test.partition("::")[0].removeprefix("../dev/") for test in tests}
    if others := sorted(name for name in files if not name.endswith((".py", ".test"))):
        raise UserError(f"{others[0]!r} is no Python test: repositories in other languages are not read")
    return sorted(files)
