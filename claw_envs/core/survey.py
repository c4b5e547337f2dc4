"""Reading many tasks of which some are bad: the good ones are loaded, the others are named with the reason."""

import warnings
from collections.abc import Callable, Iterable
from typing import NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task

_LISTED = 20
"""Faults that a warning names."""
Reader = tuple[str, Callable[[], Task]]
"""What to call a task until its id is known (its folder, its row of the file), and what reads it."""


class Fault(NamedTuple):
    """A task that cannot be loaded."""

    name: str
    """The task's folder, or the row of the file."""
    reason: str


class Survey(NamedTuple):
    """Everything that a source holds."""

    tasks: list[Task]
    faults: list[Fault]


def read_all(readers: Iterable[Reader], *, rename: str = "") -> Survey:
    """Read every task; `UserError` and `OSError` make a fault, and so does an id that is taken.

    Args:
        rename: how the user gives a task another id, for the message.
    """
    tasks: dict[str, Task] = {}
    faults: list[Fault] = []
    for name, read in readers:
        try:
            task = read()
        except (UserError, OSError) as error:
            faults.append(Fault(name, str(error)))
            continue
        if task.id in tasks:
            hint = f"; {rename}" if rename else ""
            faults.append(Fault(name, f"its id {task.id!r} is taken by a task before it{hint}"))
        else:
            tasks[task.id] = task
    return Survey(list(tasks.values()), faults)


def good_tasks(found: Survey, source: str | None, *, stacklevel: int = 3) -> list[Task]:
    """The tasks that could be read, with one warning that names the others.

    Args:
        found: at least one task or fault.
        source: as the user named it, for the message.
        stacklevel: whom the warning blames; 3 is the caller of the caller.

    Raises:
        UserError: if none could be read; it gives the first reason.
    """
    tasks, faults = found
    if not tasks:
        several = f"{source}: none of its {len(faults)} tasks can be loaded; the first: " if len(faults) > 1 else ""
        raise UserError(several + faults[0].reason)
    if faults:
        listed = "".join(f"\n  {fault.name}: {fault.reason}" for fault in faults[:_LISTED])
        listed += f"\n  and {len(faults) - _LISTED} more" if len(faults) > _LISTED else ""
        warnings.warn(
            f"{len(faults)} of {len(tasks) + len(faults)} tasks were left out:{listed}", stacklevel=stacklevel
        )
    return tasks
