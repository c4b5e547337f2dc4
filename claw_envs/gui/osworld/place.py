"""What set-up and evaluation of one episode work with."""

from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from claw_envs.gui.osworld.cache import FileCache
from claw_envs.gui.screen import Machine


class Place(NamedTuple):
    """One episode's machine, and where files of it are kept on this side."""

    machine: Machine
    task: Task
    folder: Path
    """Empty at the episode's start; OSWorld's cache folder of the task."""
    cache: FileCache | None = None
    patience: float = 60.0
    """Seconds until a window is there."""
    password: str = "password"
    """Of the machine's user, as set-up commands give it to sudo."""
    address: str | None = None
    """Of the machine's OSWorld server, where it has one that this side reaches."""
    browser: str | None = None
    """Address of the debugging port of a browser on the machine."""

    def keep(self, name: str, data: bytes) -> str:
        """Write a file into the folder; returns its path. The name may come from a task, and never leads out."""
        path = self.folder / Path(name).name
        path.write_bytes(data)
        return str(path)

    def cached(self, url: str, name: str) -> Path:
        """The user's copy of what a URL names.

        Raises:
            InfrastructureError: if there is none.
        """
        found = self.cache and self.cache.find(url, task=self.task.id, name=name)
        if not found:
            raise InfrastructureError(f"task {self.task.id}: {url} is not in the cache folder")
        return found
