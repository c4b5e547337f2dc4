"""Task sets: from the name of a set, a path, or a list, to a list of `Task`. Formats are the families' business."""

from collections import Counter
from collections.abc import Sequence
from importlib import import_module, resources
from pathlib import Path

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.families import family as family_of


def load_tasks(family: str, source: str | Path | Sequence[Task] | None = None) -> list[Task]:
    """Load the tasks of `family`.

    Args:
        family: name of the family.
        source: tasks, a path, a set's name that the family's loader knows, or None for the built-in set.

    Raises:
        UserError: if the source does not exist, holds no task, or holds two of one id.
    """
    if source is None or isinstance(source, str | Path):
        module, name = family_of(family).loader.split(":")
        tasks = list(getattr(import_module(module), name)(None if source is None else str(source)))
    else:
        tasks = list(source)
    if not tasks:
        raise UserError(f"{source}: no {family} task found there")
    uses = Counter(task.id for task in tasks)
    if repeated := sorted(task_id for task_id, count in uses.items() if count > 1):
        raise UserError(f"{source}: task ids must be unique, repeated: {', '.join(repeated)}")
    return tasks


def builtin(family: str) -> Path:
    """Folder of the built-in tasks of `family`, which are data only."""
    return Path(str(resources.files("tasks"))) / family
