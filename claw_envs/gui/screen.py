"""What every backend provides: a screen that is looked at and acted on. Backends never import each other.

`Screen` is what the environment needs. `Machine` is what OSWorld's tasks need on top: commands, files and windows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from claw_envs.core.task import Task
from claw_envs.gui.acts import ScreenAct


class Element(msgspec.Struct, frozen=True, kw_only=True):
    """A node of the accessibility tree that an agent may care about."""

    id: str
    """Short, and the same for the same node while its page or window lives."""
    role: str
    """As ARIA names it (`button`, `textbox`, `link`), on a desktop too."""
    name: str = ""
    value: str = ""
    """What a field holds."""
    box: tuple[int, int, int, int] | None = None
    """x, y, width, height in pixels of the screen; None where it is not laid out."""
    states: tuple[str, ...] = ()
    """Such as `focused`, `checked`, `disabled`, `expanded`, `selected`, `offscreen`."""
    depth: int = 0
    """In the tree as it is shown, in which the elements stand in depth-first order."""


class Pane(msgspec.Struct, frozen=True, kw_only=True):
    """A tab of a browser, or a window of a desktop."""

    title: str
    url: str = ""
    active: bool = False


class View(msgspec.Struct, kw_only=True):
    """What can be seen now; parts that were not asked for are None.

    Attributes:
        screenshot: uint8 array of shape (height, width, 3).
        elements: of the accessibility tree.
        url: of the active tab; a desktop has none.
        panes: tabs or windows, in order; cheap, so always there.
        focused: the focused element's id, role and name, in words; empty where none is.
        notes: what happened by itself since the last look, in sentences for the agent: a dialog that was answered, a
            download, a page that crashed or could not be reached.
    """

    screenshot: NDArray[np.uint8] | None = None
    elements: Sequence[Element] | None = None
    url: str | None = None
    panes: Sequence[Pane] = ()
    focused: str = ""
    notes: Sequence[str] = ()


class Parts(NamedTuple):
    """Which parts of a view are made, as each costs time."""

    screenshot: bool = True
    axtree: bool = True


class Screen(Protocol):
    """A screen for one episode at a time. Used on any event loop, by one caller at a time."""

    size: tuple[int, int]
    """Width and height in pixels."""

    async def open(self, task: Task) -> None:
        """A fresh screen, with nothing of an earlier episode; the first look shows it as it is now.

        Raises:
            InfrastructureError: if it cannot be had.
            UserError: if something is missing that the user can install, or the task asks for what it cannot do.
        """
        ...

    async def do(self, act: ScreenAct, *, timeout: float) -> str | None:
        """Carry `act` out, and wait until the screen has settled or the time is over.

        Returns:
            What was wrong with it, in a sentence for the agent: no such element, an address that is not allowed; None
            where it was carried out.

        Raises:
            InfrastructureError: if the screen is lost.
        """
        ...

    async def look(self, parts: Parts) -> View:
        """What can be seen now.

        Raises:
            InfrastructureError: if the screen is lost.
        """
        ...

    async def close(self) -> None:
        """Give everything back. May be called again."""
        ...


class Ran(NamedTuple):
    """A command that ended on a machine."""

    output: str
    error: str
    code: int


class Machine(Screen, Protocol):
    """A desktop whose files and programs set-up and evaluation reach, beside what the agent can do.

    Every method raises InfrastructureError where the machine is lost or does not answer in time, and OSError where it
    cannot do what it was asked for: no such program, window or file.
    """

    async def execute(self, command: str | Sequence[str], *, shell: bool = False, timeout: float = 120.0) -> Ran:
        """Run a command to its end."""
        ...

    async def launch(self, command: str | Sequence[str], *, shell: bool = False) -> None:
        """Start a program that stays."""
        ...

    async def read_file(self, path: str) -> bytes:
        """What a file holds.

        Raises:
            FileNotFoundError: if there is none.
        """
        ...

    async def write_file(self, path: str, data: bytes) -> None:
        """Write a file; its folder is made."""
        ...

    async def list_directory(self, path: str) -> dict[str, Any] | None:
        """A tree of `{"type": "directory" | "file", "name", "children"}`; None where there is none."""
        ...

    async def accessibility(self) -> str:
        """The accessibility tree as OSWorld's XML."""
        ...

    async def terminal_output(self) -> str | None:
        """What the active terminal window shows; None where there is none."""
        ...

    async def window_size(self, window_class: str) -> tuple[int, int] | None:
        """Width and height of the window of a class; None where there is none."""
        ...

    async def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """Bring a window to the front."""
        ...

    async def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """Close a window as its user would."""
        ...

    async def open_path(self, path: str) -> None:
        """Open a file or an address with what the desktop opens it with."""
        ...

    async def wallpaper(self) -> bytes:
        """The image on the desktop's background."""
        ...

    async def change_wallpaper(self, path: str) -> None:
        """Put an image of the machine's on the desktop's background."""
        ...

    async def platform(self) -> str:
        """Such as `Linux`."""
        ...

    async def cursor_position(self) -> tuple[int, int]:
        """Of the pointer, in pixels."""
        ...
