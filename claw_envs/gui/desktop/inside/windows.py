"""The windows that the window manager keeps (EWMH): titles, classes and places; bring one to the front, close one.

A window may vanish at any moment: it is then as if it had never been there. Not covered: windows that the window
manager does not keep, such as menus.
"""

from typing import Any

from Xlib import X, Xatom, error
from Xlib.protocol import event

from claw_envs.gui.desktop.inside.node import Window
from claw_envs.gui.desktop.inside.x import Input

_LONGEST = 1 << 16
_USER = 2
"""Source of a request, as EWMH counts: a pager, which acts for the user."""


class Windows:
    """The windows of one display."""

    def __init__(self, screen: Input) -> None:
        self._screen = screen
        self._display: Any = screen.display
        self._root = screen.root
        self._atoms: dict[str, int] = {}

    def all(self) -> list[Window]:
        """In the order in which they were opened."""
        return self._listed("_NET_CLIENT_LIST")

    def stacked(self) -> list[Window]:
        """Those that are not minimized, the lowest first."""
        return [window for window in self._listed("_NET_CLIENT_LIST_STACKING") if not self._hidden(window)]

    def _listed(self, name: str) -> list[Window]:
        with self._screen.lock:
            active = (self._numbers(self._root, "_NET_ACTIVE_WINDOW") or [0])[0]
            found = [self._window(number, active) for number in self._numbers(self._root, name)]
        return [window for window in found if window is not None]

    def _hidden(self, window: Window) -> bool:
        with self._screen.lock:
            resource = self._display.create_resource_object("window", window.id)
            return self._atom("_NET_WM_STATE_HIDDEN") in self._numbers(resource, "_NET_WM_STATE")

    def activate(self, window: Window) -> None:
        """Bring it to the front, with the keyboard's focus."""
        self._ask(window, "_NET_ACTIVE_WINDOW", [_USER, X.CurrentTime, 0])

    def close(self, window: Window) -> None:
        """Ask its application to close it."""
        self._ask(window, "_NET_CLOSE_WINDOW", [X.CurrentTime, _USER])

    def find(self, name: str, *, strict: bool = False, by_class: bool = False) -> Window | None:
        """The first whose title (or class, `instance.Class`) holds `name`, in whatever case, or with `strict` is it."""
        for window in self.all():
            text = f"{window.name}.{window.window_class}" if by_class else window.title
            if text == name if strict else name.casefold() in text.casefold():
                return window
        return None

    def frame_extents(self, window: Window) -> tuple[int, int, int, int] | None:
        """Left, right, top and bottom of the shadow that an application draws around its content, where it says so."""
        resource = self._display.create_resource_object("window", window.id)
        with self._screen.lock:
            sides = self._numbers(resource, "_GTK_FRAME_EXTENTS")
        return (sides[0], sides[1], sides[2], sides[3]) if len(sides) >= 4 else None

    def _window(self, number: int, active: int) -> Window | None:
        resource = self._display.create_resource_object("window", number)
        try:
            size = resource.get_geometry()
            place = resource.translate_coords(self._root, 0, 0)
            name, window_class = resource.get_wm_class() or ("", "")
            title = self._text(resource, "_NET_WM_NAME") or self._text(resource, "WM_NAME")
            pid = (self._numbers(resource, "_NET_WM_PID") or [0])[0]
            left, right, top, bottom = (self._numbers(resource, "_NET_FRAME_EXTENTS") + [0] * 4)[:4]
        except (error.BadWindow, error.BadDrawable):
            return None
        # translate_coords answers for the other direction
        x, y = -place.x, -place.y
        box = (x, y, size.width, size.height)
        frame = (x - left, y - top, size.width + left + right, size.height + top + bottom)
        return Window(number, title, name, window_class, pid, box, frame, number == active)

    def _ask(self, window: Window, what: str, data: list[int]) -> None:
        message = event.ClientMessage(window=window.id, client_type=self._atom(what), data=(32, (data + [0] * 5)[:5]))
        with self._screen.lock:
            self._root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
            self._display.sync()

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = self._display.intern_atom(name)
        return self._atoms[name]

    def _numbers(self, resource: Any, name: str) -> list[int]:
        try:
            found = resource.get_full_property(self._atom(name), X.AnyPropertyType, _LONGEST)
        except error.BadWindow:
            return []
        return [int(number) for number in found.value] if found is not None and found.format == 32 else []

    def _text(self, resource: Any, name: str) -> str:
        found = resource.get_full_property(self._atom(name), X.AnyPropertyType, _LONGEST)
        if found is None or found.format != 8:
            return ""
        value = found.value if isinstance(found.value, bytes) else bytes(found.value)
        return value.decode("latin-1" if found.property_type == Xatom.STRING else "utf-8", "replace")
