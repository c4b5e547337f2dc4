"""Terminal tasks from wherever they lie: a task's folder, a folder of tasks, or a JSONL file that names folders.

Formats may be mixed; each folder's is recognised by its files (`formats`). One bad task does not hide the rest.
"""

import os
from collections import Counter
from functools import partial
from pathlib import Path

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.survey import Reader, Survey, good_tasks, read_all
from claw_envs.core.task import Task
from claw_envs.core.tasksets import builtin
from claw_envs.terminal.formats import is_task, read_task, seta

_NONE_THERE = "no task there; a task folder has a task.toml (Harbor) or a task.yaml (Terminal-Bench)"


def load(source: str | None = None) -> list[Task]:
    """Load tasks.

    Of several the good ones are loaded, with a warning that names the others.

    Args:
        source: a task's folder, a folder of tasks (also one level further down, as in `tasks/`), or a `.jsonl` file;
            None is the built-in set.

    Raises:
        UserError: if there is none, or none can be loaded.
    """
    return good_tasks(survey(source), source)


def survey(source: str | None = None) -> Survey:
    """All tasks of `source` that can be loaded, and why the others cannot.

    Raises:
        UserError: if there is none of either, or the source cannot be read.
    """
    root = builtin("terminal") if source is None else Path(os.path.expanduser(source))
    try:
        return _survey(root)
    except OSError as error:
        raise UserError(f"{source}: cannot be read: {error}") from None


def _survey(root: Path) -> Survey:
    if root.suffix == ".jsonl" and root.is_file():
        return _rows(root)
    if not root.is_dir():
        raise UserError(f"{root}: no such folder; give a task's folder, a folder of tasks, or a .jsonl file of them")
    if is_task(root):
        return _read([(root.resolve().name, partial(read_task, root))])
    folders = _folders(root)
    if not folders:
        raise UserError(f"{root}: {_NONE_THERE}")
    uses = Counter(folder.name for folder in folders)
    names = [folder.name if uses[folder.name] == 1 else folder.relative_to(root).as_posix() for folder in folders]
    return _read([(name, partial(_read_as, name, folder)) for name, folder in zip(names, folders, strict=True)])


def _read_as(name: str, folder: Path) -> Task:
    return msgspec.structs.replace(read_task(folder), id=name)


def _folders(root: Path) -> list[Path]:
    """Task folders in `root`, and in those of its folders that are no tasks."""
    children = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    found: list[Path] = []
    for child in children:
        inner = [child] if is_task(child) else sorted(path for path in child.iterdir() if path.is_dir())
        found += [folder for folder in inner if is_task(folder)]
    return found


def _rows(path: Path) -> Survey:
    rows = seta.rows(path)
    if not rows:
        raise UserError(f'{path}: empty; a row names a task folder, as in {{"task_path": "tasks/hello"}}')
    return _read([(f"line {row.number}", partial(seta.read, row)) for row in rows])


def _read(readers: list[Reader]) -> Survey:
    return read_all(readers, rename="give it a `task_id` of its own")
