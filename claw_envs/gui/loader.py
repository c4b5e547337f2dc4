"""GUI tasks from wherever they lie: each kind of task has a loader of its own, which is asked whether a source is its.

A source is `webapps` (None is the same), `desktop`, `miniwob`, a part of one of them, a folder with tasks in web
applications, an OSWorld task's JSON file, its `test_*.json`, or its folder `evaluation_examples`. A part names, with
commas, tasks by their ids, pages or applications: `miniwob/click-test,click-link`, `webapps/shop`,
`webapps/shop/towels-to-basket,mail`, `desktop/ID`.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task

_LOADERS = {"webapps": "webapps", "desktop": "osworld", "miniwob": "miniwob"}
"""Name of a set -> the package whose loader has it."""
_BUILT_IN = ("webapps", "desktop")


def load(source: str | None = None) -> list[Task]:
    """Load tasks.

    Args:
        source: see the module; None is the built-in web applications.

    Raises:
        UserError: if there is none, or none can be loaded.
    """
    source = source or "webapps"
    name, _, part = source.partition("/")
    if name in _BUILT_IN and (part or source == name):
        tasks: list[Task] = _loader(_LOADERS[name]).load(None)
        chosen = _part(tasks, part) if part else tasks
        if chosen:
            return chosen
        if not Path(source).expanduser().exists():
            raise UserError(f"{source}: no such part of {name}; `claw tasks gui --tasks {name}` lists its tasks")
    for package in dict.fromkeys(_LOADERS.values()):
        loader = _loader(package)
        if loader.recognises(source):
            tasks = loader.load(source)
            return tasks
    missing = "" if Path(source).expanduser().exists() else " there is no such path;"
    raise UserError(
        f"{source}: no GUI task set;{missing} name {', '.join(_LOADERS)}, or a part such as miniwob/PAGE or "
        "webapps/shop, a folder with tasks in web applications, or OSWorld's task files"
    )


def _part(tasks: list[Task], part: str) -> list[Task]:
    """The tasks that `part` names by their ids or, of many, by what these begin with; none where a name is nobody's."""
    chosen: dict[str, Task] = {}
    for name in part.split(","):
        named = [task for task in tasks if task.id == name or task.id.startswith(f"{name}/")]
        if not named:
            return []
        chosen |= {task.id: task for task in named}
    return list(chosen.values())


def _loader(package: str) -> Any:
    return import_module(f"claw_envs.gui.{package}.loader")
