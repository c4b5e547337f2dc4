"""Where accessible objects are on the screen.

GTK 4 says only where an object is in its window, so that the window is looked up among those of the window manager.
LibreOffice forgets its menu bar where it counts, which is seen at the top of its objects.
"""

from claw_envs.gui.desktop.inside.bus import Bus
from claw_envs.gui.desktop.inside.node import (
    FRAME,
    MENU,
    POPUP_MENU,
    ROOT_PANE,
    SCROLL_PANE,
    VIEWPORT,
    Box,
    Node,
    Window,
    overlap,
)
from claw_envs.gui.desktop.inside.node import WINDOW as WINDOW_ROLE
from claw_envs.gui.desktop.inside.windows import Windows

SCREEN, WINDOW = 0, 1
"""Kinds of coordinates, as AT-SPI numbers them."""
_WINDOWS = (FRAME, MENU, POPUP_MENU, WINDOW_ROLE)
"""Roles of what has a window of its own, wherever in the tree it is."""


class Places:
    """Puts the boxes of nodes where they are on the screen."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._open: list[Window] = []
        self._pids: dict[str, int] = {}
        self._shifts: dict[Node, tuple[int, int]] = {}
        """Of the tops of what is told in other coordinates, and of all below them."""

    def renew(self) -> None:
        """Look at the windows as they are now."""
        self._open = self._windows.all()
        self._shifts.clear()

    @staticmethod
    def coordinates(toolkit: str) -> int:
        """The kind of coordinates that a toolkit knows."""
        return WINDOW if toolkit.startswith("GTK 4") else SCREEN

    def place_window(self, node: Node, bus: Bus, *, deadline: float) -> None:
        """Find the window of a top node whose toolkit does not say where it is."""
        if self.coordinates(node.toolkit) != WINDOW or node.told is None:
            return
        name = node.ref.bus
        if not self._pids.get(name):
            self._pids[name] = bus.process_of(name, deadline=deadline)
        own = [window for window in self._open if window.pid == self._pids[name]]
        titled = [window for window in own if window.title == node.name] or own
        if titled:
            x, y, width, height = titled[-1].box
            left, _, top, _ = self._windows.frame_extents(titled[-1]) or (
                (width - node.told[2]) // 2, 0, (height - node.told[3]) // 2, 0,
            )  # fmt: skip
            self._shifts[node] = x + left, y + top

    def place(self, node: Node, parent: Node) -> None:
        """Say where a node is on the screen, once its parent has been placed."""
        node.view = _view(node, parent)
        if node not in self._shifts and parent in self._shifts:
            self._shifts[node] = self._shifts[parent]
        if node.told is None:
            return
        if node.role == ROOT_PANE and not node.native and parent.box is not None:
            self._shifts[node] = parent.box[0] - node.told[0], parent.box[1] - node.told[1]
        known = self.coordinates(node.toolkit) == SCREEN and node.native
        x, y = (0, 0) if known else self._shifts.get(node, (0, 0))
        node.box = (node.told[0] + x, node.told[1] + y, node.told[2], node.told[3])


def seen(node: Node) -> Box | None:
    """The part of a node that is seen through what scrolls around it, in the coordinates of its application."""
    if node.told is None or node.box is None or node.view is None:
        return node.told
    x, y, width, height = overlap(node.box, node.view)
    return x - node.box[0] + node.told[0], y - node.box[1] + node.told[1], width, height


def _view(node: Node, parent: Node) -> Box | None:
    if node.role in _WINDOWS or parent.box is None:
        return None
    if parent.role not in (SCROLL_PANE, VIEWPORT):
        return parent.view
    return parent.box if parent.view is None else overlap(parent.view, parent.box)
