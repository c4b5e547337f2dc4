"""Public task formats, one module a folder format; which one a folder is in is seen from its files."""

from pathlib import Path
from typing import Protocol

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.terminal.formats import harbor, terminal_bench


class Format(Protocol):
    """What the module of a folder format has."""

    def recognises(self, folder: Path) -> bool:
        """Whether `folder` is, or was meant to be, a task of this format."""
        ...

    def read(self, folder: Path) -> Task:
        """Read one task folder; `UserError` where it is incomplete, malformed or asks for too much."""
        ...


FORMATS: tuple[Format, ...] = (harbor, terminal_bench)


def is_task(folder: Path) -> bool:
    """Whether `folder` is, or was meant to be, a task in one of the formats."""
    return any(form.recognises(folder) for form in FORMATS)


def read_task(folder: Path) -> Task:
    """Read one task folder of any format.

    Raises:
        UserError: if it is none, incomplete, malformed, or asks for what is not supported.
    """
    for form in FORMATS:
        if form.recognises(folder):
            return form.read(folder)
    raise UserError(f"{folder}: no task there; a task folder has a task.toml (Harbor) or a task.yaml (Terminal-Bench)")
