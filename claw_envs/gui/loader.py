"""GUI tasks from wherever they lie: each kind of task has a loader of its own, which is asked whether a source is its.

A source is `webapps` (None is the same), `desktop`, `miniwob`, `miniwob/<page>[,<page>]`, a folder with tasks in web
applications, an OSWorld task's JSON file, its `test_*.json`, or its folder `evaluation_examples`.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task

_LOADERS = {"webapps": "webapps", "desktop": "osworld", "miniwob": "miniwob"}
"""Name of a set -> the package whose loader has it."""


def load(source: str | None = None) -> list[Task]:
    """Load tasks.

    Args:
        source: see the module; None is the built-in web applications.

    Raises:
        UserError: if there is none, or none can be loaded.
    """
    if source in (None, "webapps", "desktop"):
        tasks: list[Task] = _loader(_LOADERS[source or "webapps"]).load(None)
        return tasks
    for package in dict.fromkeys(_LOADERS.values()):
        loader = _loader(package)
        if loader.recognises(source):
            tasks = loader.load(source)
            return tasks
    missing = "" if Path(source).expanduser().exists() else " there is no such path;"
    raise UserError(
        f"{source}: no GUI task set;{missing} name {', '.join(_LOADERS)}, miniwob/PAGE, a folder with tasks in web "
        "applications, or OSWorld's task files"
    )


def _loader(package: str) -> Any:
    return import_module(f"claw_envs.gui.{package}.loader")
