"""A desktop that runs, and all that can be done with it: what both faces of this program offer."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from claw_envs.gui.desktop.inside import files, run
from claw_envs.gui.desktop.inside.acting import Acting
from claw_envs.gui.desktop.inside.background import Background
from claw_envs.gui.desktop.inside.bus import Bus
from claw_envs.gui.desktop.inside.capture import Camera
from claw_envs.gui.desktop.inside.elements import Elements, focused
from claw_envs.gui.desktop.inside.node import Tree, Window
from claw_envs.gui.desktop.inside.opening import opener
from claw_envs.gui.desktop.inside.places import Places
from claw_envs.gui.desktop.inside.pyautogui import carry_out
from claw_envs.gui.desktop.inside.session import Session
from claw_envs.gui.desktop.inside.settle import Watch
from claw_envs.gui.desktop.inside.terminal import XTERM, terminal_text, xterm_text
from claw_envs.gui.desktop.inside.tree import Walker
from claw_envs.gui.desktop.inside.windows import Windows
from claw_envs.gui.desktop.inside.x import Input
from claw_envs.gui.desktop.inside.xml import as_xml

_MANAGER_TIMEOUT = 20.0
_CATCH_UP_TIMEOUT = 10.0
_PRINT_TIMEOUT, _LOOK_TIMEOUT = 2.0, 0.3
"""Seconds that a terminal gets to tell its text, to who asks for that, and for a look."""
MOST_FILE_BYTES = 200_000_000


class MachineError(ValueError):
    """What was asked for cannot be done; the message says why."""


class Machine:
    """One desktop. Safe to use from several threads.

    Args:
        size: of the screen, in pixels.
        on_end: called with a sentence, from another thread, when the desktop has ended by itself.

    Raises:
        OSError: if it does not start.
    """

    def __init__(self, size: tuple[int, int], *, on_end: Callable[[str], None]) -> None:
        self.session = Session(size, on_end=on_end)
        self._watch = Watch()
        self._watching = threading.Lock()
        self.input = Input(caught_up=self._caught_up)
        self.size = self.input.size
        self.camera = Camera(self.input, self.session.framebuffer)
        self.windows = Windows(self.input)
        self.background = Background(self.input)
        if not self._watch.begun(_MANAGER_TIMEOUT):
            raise OSError("the window manager does not start")
        self._bus: Bus | None = None
        self._walker: Walker | None = None
        self._walking = threading.Lock()
        self.elements = Elements()
        self._acting = Acting(self.input, self.elements, self.bus, self.windows, settle=self.settle, code=self.code)

    def bus(self) -> Bus:
        """The accessibility bus, connected to when it is first needed."""
        if self._bus is None:
            self._bus = Bus()
        return self._bus

    def tree(self) -> Tree:
        """The accessibility tree as it is now."""
        with self._walking:
            if self._walker is None:
                self._walker = Walker(self.bus(), Places(self.windows))
            return self._walker.walk()

    def settle(self, timeout: float) -> None:
        """Wait until the screen has settled."""
        with self._watching:
            self._watch.settle(timeout)

    def _caught_up(self) -> None:
        with self._watching:
            self._watch.settle(_CATCH_UP_TIMEOUT, answer=_CATCH_UP_TIMEOUT)

    def do(self, act: dict[str, Any], timeout: float) -> str | None:
        """Carry out an act (see `acting`) and wait until the screen has settled; what was wrong, in a sentence."""
        said = self._acting.do(act, timeout)
        self.settle(timeout)
        return said

    def code(self, text: str, timeout: float) -> str | None:
        """Carry out calls of pyautogui; what was wrong with them, in a sentence."""
        return carry_out(text, self.input, timeout=timeout)

    def look(self, *, axtree: bool) -> dict[str, Any]:
        """What can be seen now, without the picture; see `screen.View`."""
        windows = self.windows.all()
        panes = [{"title": window.title, "active": window.active} for window in windows]
        seen: dict[str, Any] = {"panes": panes, "notes": [], "focused": "", "elements": None}
        if axtree:
            tree = self.tree()
            stacked = self.windows.stacked()
            terminals = {window.id: self._xterm(window, _LOOK_TIMEOUT) for window in stacked if window.active}
            seen["elements"] = elements = self.elements.listed(tree, stacked, terminals)
            seen["focused"] = focused(elements)
            seen["notes"] = [f"{name} does not answer." for name in tree.hanging]
            if tree.cut:
                seen["notes"].append("There is more on the screen than is listed.")
        return seen

    def xml(self) -> str:
        """The accessibility tree as OSWorld's XML."""
        return as_xml(self.tree())

    def execute(self, command: str | Sequence[str], *, shell: bool = False, timeout: float = 120.0) -> run.Ended:
        """See `run.execute`."""
        return run.execute(command, shell=shell, timeout=timeout)

    def launch(self, command: str | Sequence[str], *, shell: bool = False) -> None:
        """See `run.launch`."""
        run.launch(command, shell=shell)

    def read_file(self, path: str) -> bytes:
        """See `files.read`."""
        return files.read(path, most=MOST_FILE_BYTES)

    def write_file(self, path: str, data: bytes) -> None:
        """See `files.write`."""
        files.write(path, data)

    def list_directory(self, path: str) -> dict[str, Any] | None:
        """See `files.listing`."""
        return files.listing(path)

    def terminal_output(self) -> str | None:
        """What the active terminal window shows; None where there is none that says so."""
        for window in self.windows.all():
            if window.active and window.window_class == XTERM:
                return self._xterm(window, _PRINT_TIMEOUT)
        return terminal_text(self.tree())

    def _xterm(self, window: Window, timeout: float) -> str | None:
        """What an active window shows, where it is an xterm."""
        if window.window_class != XTERM:
            return None
        return xterm_text(self.input, self.session.runtime / "terminal", timeout=timeout)

    def window_size(self, window_class: str) -> tuple[int, int] | None:
        """Width and height of the window of a class; None where there is none."""
        window = self.windows.find(window_class, by_class=True)
        return None if window is None else window.box[2:]

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """Bring a window to the front.

        Raises:
            MachineError: if there is none of that name.
        """
        self._reach(name, strict, by_class, self.windows.activate)

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """Close a window as its user would.

        Raises:
            MachineError: if there is none of that name.
        """
        self._reach(name, strict, by_class, self.windows.close)

    def _reach(self, name: str, strict: bool, by_class: bool, do: Callable[[Any], None]) -> None:
        window = self.windows.find(name, strict=strict, by_class=by_class)
        if window is None:
            raise MachineError(f"there is no window {name!r}")
        do(window)
        self.settle(2.0)

    def open_path(self, path: str) -> None:
        """Open a file or an address with what the desktop opens it with.

        Raises:
            FileNotFoundError: if there is no such file, or nothing that opens it.
        """
        run.launch(opener(path))

    def wallpaper(self) -> bytes:
        """The image on the desktop's background."""
        return self.background.file()

    def change_wallpaper(self, path: str) -> None:
        """Put an image on the desktop's background.

        Raises:
            OSError: if there is no such image.
        """
        self.background.show(self.read_file(path))

    def cursor_position(self) -> tuple[int, int]:
        """Of the pointer."""
        return self.input.position()

    def close(self) -> None:
        """Let go of what outlives this program; its desktop ends with it."""
        self.session.close()

    @staticmethod
    def platform() -> str:
        """Such as `Linux`."""
        return os.uname().sysname
