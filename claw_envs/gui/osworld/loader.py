"""OSWorld tasks from wherever they lie.

A source is a task's JSON file, a list of tasks of OSWorld's (`test_all.json`: ids by domain, beside `examples/`), its
folder `evaluation_examples`, or a folder of task files. None is the built-in set, `tasks/gui/desktop`. One bad task
does not hide the rest.
"""

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.survey import Fault, Reader, Survey, good_tasks, read_all
from claw_envs.core.task import Task
from claw_envs.core.tasksets import builtin
from claw_envs.gui.osworld.format import read
from claw_envs.gui.osworld.needs import Given, missing

_EXAMPLES = "examples"
_ALL = "test_all.json"


def recognises(source: str) -> bool:
    """Whether `source` names OSWorld tasks."""
    path = Path(source).expanduser()
    if path.is_dir():
        return (path / _EXAMPLES).is_dir() or any(_is_task(_json(file)) for file in _files(path))
    return path.suffix == ".json" and path.is_file() and (_is_task(_json(path)) or _is_list(_json(path)))


def load(source: str | None = None) -> list[Task]:
    """Load tasks, with a warning that names those that cannot be read.

    Raises:
        UserError: if there is none, or none can be read.
    """
    return good_tasks(survey(source), source)


def survey(source: str | None = None) -> Survey:
    """All tasks of `source` that can be read, and why the others cannot.

    Raises:
        UserError: if there is no such source, or no task in it.
    """
    path = builtin("gui") / "desktop" if source is None else Path(source).expanduser()
    if not path.exists():
        raise UserError(f"{source}: no such file or folder")
    found = read_all(_readers(path))
    if not (found.tasks or found.faults):
        raise UserError(f"{path}: no task there; OSWorld's are JSON files with an instruction and an evaluator")
    return found


def runnable(tasks: Iterable[Task], given: Given) -> Survey:
    """Which tasks can run with what the user has, and what the others lack."""
    good, faults = [], []
    for task in tasks:
        lacking = missing(task, given)
        if lacking:
            faults.append(Fault(task.id, "; ".join(lacking)))
        else:
            good.append(task)
    return Survey(good, faults)


def _readers(path: Path) -> list[Reader]:
    if path.is_dir() and (path / _EXAMPLES).is_dir():
        listed = path / _ALL
        return _readers(listed) if listed.is_file() else _of_files(sorted((path / _EXAMPLES).glob("*/*.json")))
    if path.is_dir():
        return _of_files([file for file in _files(path) if _json(file) is None or _is_task(_json(file))])
    content = _json(path)
    if not _is_list(content):
        return [(path.stem, partial(read, path))]
    folder = path.parent / _EXAMPLES
    return _of_files([folder / domain / f"{name}.json" for domain, names in content.items() for name in names])


def _of_files(files: list[Path]) -> list[Reader]:
    return [(file.stem, partial(read, file)) for file in files]


def _files(folder: Path) -> list[Path]:
    """JSON files of a folder, and of the folders in it."""
    return sorted([*folder.glob("*.json"), *folder.glob("*/*.json")])


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def _is_task(content: Any) -> bool:
    return isinstance(content, dict) and {"id", "instruction", "evaluator"} <= content.keys()


def _is_list(content: Any) -> bool:
    return (
        isinstance(content, dict)
        and bool(content)
        and all(isinstance(ids, list) and all(isinstance(each, str) for each in ids) for ids in content.values())
    )
