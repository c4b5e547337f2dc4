"""Tasks of the real package, loaded once."""

import functools

from claw_envs.core.task import Task
from claw_envs.toolcall.bfcl.tasks import load

tasks_of = functools.cache(load)


def task(task_id: str) -> Task:
    """A task by its id."""
    return next(task for task in tasks_of(task_id.rsplit("_", 1)[0]) if task.id == task_id)
