"""Loads tasks in web applications: the built-in ones, or those of folders that are laid out like them.

A source is a folder with an application in it (`index.html`, `seed.json`, and a TOML file a task in `tasks/`), or a
folder of such folders. See docs/gui-tasks.md for the format of a task.
"""

import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.survey import Reader, Survey, good_tasks, read_all
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.gui.webapps.app import TASKS, builtin_apps, is_app, read_app
from claw_envs.gui.webapps.goal import Goal

KIND = "webapp"
"""Of the verifier."""
_LEAST_STEPS = 10
_STEP_TIMEOUT, _VERDICT_TIMEOUT = 30.0, 30.0


class _TaskFile(Goal, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task's TOML file: the goal, and what is said about it."""

    instruction: str
    solution: list[str]
    difficulty: str = "medium"
    max_steps: int | None = None


def recognises(source: str) -> bool:
    """Whether `source` is a folder with tasks in web applications."""
    return bool(_apps(Path(source).expanduser()))


def load(source: str | None = None) -> list[Task]:
    """Load tasks.

    Of several the good ones are loaded, with a warning that names the others.

    Args:
        source: a folder, see the module; None is the built-in set.

    Raises:
        UserError: if there is none, or none can be loaded.
    """
    return good_tasks(survey(source), source)


def survey(source: str | None = None) -> Survey:
    """All tasks of `source` that can be loaded, and why the others cannot.

    Raises:
        UserError: if there is none of either.
    """
    root = builtin_apps() if source is None else Path(source).expanduser()
    readers: list[Reader] = []
    for folder in _apps(root):
        for file in sorted((folder / TASKS).glob("*.toml")):
            readers.append((f"{folder.name}/{file.stem}", partial(_read, folder, file)))
    if not readers:
        raise UserError(f"{root}: no task there; a web application has index.html, seed.json and {TASKS}/*.toml")
    return read_all(readers)


def _apps(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return [folder for folder in (root, *sorted(root.iterdir())) if is_app(folder)]


def _read(folder: Path, file: Path) -> Task:
    read_app(str(folder))  # what is wrong with the application is wrong with every task
    try:
        known = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _TaskFile)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{file}: {error}") from None
    try:
        _check(known)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    return Task(
        id=f"{folder.name}/{file.stem}",
        family="gui",
        instruction=" ".join(known.instruction.split()),
        verifier=VerifierSpec(kind=KIND, timeout=_VERDICT_TIMEOUT, options=_goal(known)),
        limits=Limits(
            max_steps=known.max_steps or max(_LEAST_STEPS, 2 * len(known.solution)),
            step_timeout=_STEP_TIMEOUT,
        ),
        path=str(folder),
        metadata={
            "domain": folder.name,
            "feasible": known.feasible,
            "difficulty": known.difficulty,
            "solution": known.solution,
        },
    )


def _check(known: _TaskFile) -> None:
    for condition in known.expect:
        condition.check()
    if known.answer is not None:
        from claw_envs.toolcall.answers.check import check_expected

        check_expected(known.answer.value, known.answer.kind, known.answer.options)
    if not known.feasible and (known.expect or known.answer):
        raise UserError("a task that is not feasible has no expect or answer")
    if known.feasible and not (known.expect or known.answer):
        raise UserError("nothing is asked for: give expect or answer, or feasible = false")


def _goal(known: _TaskFile) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(known)
    return {name: fields[name] for name in Goal.__struct_fields__}
