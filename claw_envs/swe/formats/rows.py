"""Rows of SWE-bench 5, which carry their own evaluation script, and the columns that other formats share with them.

A row of SWE-bench 4 has no script. It becomes a task where a recipe names a test command (`formats.script`); `claw swe
convert` gives it the official script.
"""

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.rows import Row
from claw_envs.core.task import Task
from claw_envs.swe.formats.images import sandbox_for
from claw_envs.swe.formats.script import script_of
from claw_envs.swe.instance import Instance, task_of
from claw_envs.swe.recipe.assign import recorded
from claw_envs.swe.recipe.file import read_recipe

_COMMIT = re.compile(r"[0-9a-f]{40}")


class SweRow(msgspec.Struct, kw_only=True):
    """The columns that are read; others are the data set's business."""

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    patch: str
    test_patch: str
    fail_to_pass: list[str] | str = msgspec.field(name="FAIL_TO_PASS")
    """A list, or the same as JSON text."""
    pass_to_pass: list[str] | str = msgspec.field(name="PASS_TO_PASS")
    eval_script: str | None = None
    log_parser: str | None = None
    eval_type: Literal["pass_and_fail", "fail_only"] | None = None
    version: str | None = None
    image: str | None = None
    hints_text: str | None = None
    difficulty: str | None = None
    recipe: str | None = None
    """Ours: a recipe file, as its path from the file of the rows."""

    def instance(self) -> Instance:
        """The row as an `Instance`; what only SWE-bench 5 has may be empty.

        Raises:
            UserError: if the commit is none, or no test decides.
        """
        if not _COMMIT.fullmatch(self.base_commit):
            raise UserError(f"base_commit must be 40 hex digits, got {self.base_commit!r}")
        fail_to_pass = _tests("FAIL_TO_PASS", self.fail_to_pass)
        if not fail_to_pass:
            raise UserError("FAIL_TO_PASS is empty, so nothing would show that a patch is right")
        return Instance(
            instance_id=self.instance_id,
            repo=self.repo,
            base_commit=self.base_commit,
            problem_statement=self.problem_statement,
            patch=self.patch,
            test_patch=self.test_patch,
            eval_script=self.eval_script or "",
            log_parser=self.log_parser or "",
            fail_to_pass=fail_to_pass,
            pass_to_pass=_tests("PASS_TO_PASS", self.pass_to_pass),
            eval_type=self.eval_type or "pass_and_fail",
            version=self.version or "",
            image=self.image or "",
            hints_text=self.hints_text or "",
        )


def columns(row: Row) -> SweRow:
    """The columns of a row.

    Raises:
        UserError: if one is missing or of another type.
    """
    try:
        return msgspec.convert(row, SweRow)
    except msgspec.ValidationError as error:
        raise UserError(f"not a SWE-bench row: {error}") from error


def read(row: Row, folder: Path | None = None, recipe: Path | None = None) -> Task:
    """The task of a row of SWE-bench 5, or of SWE-bench 4 with a recipe.

    Args:
        folder: that holds the rows' file.
        recipe: for rows without one of their own; else what `claw swe prepare` was given for the instance, or the
            `recipe.toml` beside the rows' file.

    Raises:
        UserError: if a column is missing or wrong, or the row says neither how to test nor where.
    """
    got = columns(row)
    instance = got.instance()
    recipe = _recipe(got, folder, recipe)
    if not instance.eval_script and recipe is not None:
        instance = _with_tests(instance, recipe)
    if not (instance.eval_script and instance.log_parser):
        raise UserError(
            "a row of SWE-bench 4, which has no eval_script and log_parser: `claw swe convert` adds them, or a "
            "recipe.toml beside the file whose [tests] names the command"
        )
    if not instance.image and recipe is None:
        raise UserError("the row names no image, and there is no recipe.toml beside its file")
    found: dict[str, Any] = {"format": "swe-bench", "difficulty": got.difficulty, "recipe": recipe and str(recipe)}
    metadata = {key: value for key, value in found.items() if value}
    return task_of(instance, sandbox_for(instance), metadata=metadata)


def _recipe(row: SweRow, folder: Path | None, given: Path | None) -> Path | None:
    if folder is not None and row.recipe:
        path = folder / row.recipe
        if not path.is_file():
            raise UserError(f"its recipe {path} does not exist")
        return path.resolve()
    if found := given or recorded(row.instance_id):
        return found
    beside = folder / "recipe.toml" if folder is not None else None
    return beside.resolve() if beside is not None and beside.is_file() else None


def _with_tests(instance: Instance, recipe: Path) -> Instance:
    tests = read_recipe(recipe).tests
    if tests is None:
        raise UserError(
            f"the row has no eval_script, so {recipe} must say how to test it: "
            '[tests] with command = "python -m pytest -rA"'
        )
    script = script_of(instance, tests.command)
    return msgspec.structs.replace(instance, eval_script=script, log_parser=tests.log_parser)


def _tests(column: str, tests: list[str] | str) -> tuple[str, ...]:
    if isinstance(tests, list):
        return tuple(tests)
    try:
        return tuple(msgspec.json.decode(tests, type=list[str]))
    except msgspec.DecodeError as error:
        raise UserError(f"{column} is not a list of tests: {error}") from error
