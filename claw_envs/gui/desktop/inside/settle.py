"""Tell when the screen has settled: input has been dealt with, and nothing is drawn any more.

Input passes through the window manager first, so that is asked something that it answers in its turn
(`_NET_REQUEST_FRAME_EXTENTS`); then the active application is (`_NET_WM_PING`), which answers once it has dealt with
all input before. What it draws then is seen as damage. None of them is waited for beyond a bound. Not covered: what an
application does later by itself.
"""

import select
import time
from typing import Any

from Xlib import X, display, error
from Xlib.ext import damage
from Xlib.protocol import event

_MANAGER_TIMEOUT = 0.25
"""Seconds that the window manager gets to answer."""
_ASK_AGAIN = 0.02
"""Seconds after which one that has just been started is asked again."""
_PING_TIMEOUT = 0.5
"""Seconds that the application gets to answer."""
_QUIET = 0.03
"""Seconds without damage after which the screen has settled: two frames."""
_LONGEST = 2.0
"""Seconds after which it counts as settled, as some applications never stop drawing."""


class Watch:
    """Watches one display over a connection of its own. One thread at a time."""

    def __init__(self, name: str | None = None) -> None:
        self._display: Any = display.Display(name)
        self._root: Any = self._display.screen().root
        self._display.damage_query_version()
        self._damage = self._root.damage_create(damage.DamageReportNonEmpty)
        self._root.change_attributes(event_mask=X.SubstructureNotifyMask)
        self._own = self._root.create_window(
            0, 0, 1, 1, 0, X.CopyFromParent, X.InputOnly, event_mask=X.PropertyChangeMask
        )
        self._atoms = {
            name: self._display.intern_atom(name)
            for name in ("WM_PROTOCOLS", "_NET_WM_PING", "_NET_ACTIVE_WINDOW", "_NET_REQUEST_FRAME_EXTENTS")
        }
        self._number = 0
        self._damaged = self._managed = False
        self._answered: set[int] = set()
        self._display.sync()

    def settle(self, timeout: float, *, answer: float = _PING_TIMEOUT) -> None:
        """Wait until the screen has settled, `timeout` seconds at most.

        Args:
            answer: seconds that the application gets to show that it has dealt with what came before.
        """
        deadline = time.monotonic() + min(timeout, max(_LONGEST, answer))
        self._take_in()
        self.managed(min(timeout, _MANAGER_TIMEOUT))
        number = self._ping_active()
        limit = min(deadline, time.monotonic() + answer)
        while number and number not in self._answered and self._wait(limit):
            pass
        deadline = min(deadline, time.monotonic() + _LONGEST)
        limit = min(deadline, time.monotonic() + _QUIET)
        while self._wait(limit):
            if self._damaged:
                self._damaged = False
                limit = min(deadline, time.monotonic() + _QUIET)

    def begun(self, timeout: float) -> bool:
        """Wait until there is a window manager that takes care of new windows; whether there is one in time.

        It is asked again and again, as one that is being started throws away what it is asked, and new windows too.
        """
        end = time.monotonic() + timeout
        while not (done := self.managed(_ASK_AGAIN)) and time.monotonic() < end:
            pass
        return done

    def managed(self, timeout: float) -> bool:
        """Wait until the window manager has dealt with all that happened before; whether it did in time."""
        self._managed = False
        limit = time.monotonic() + timeout
        message = event.ClientMessage(
            window=self._own.id, client_type=self._atoms["_NET_REQUEST_FRAME_EXTENTS"], data=(32, [0] * 5)
        )
        self._root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self._display.flush()
        while not self._managed and self._wait(limit):
            pass
        return self._managed

    def _ping_active(self) -> int:
        """Ping the active window; the number of the ping, 0 where it will not be answered."""
        found = self._root.get_full_property(self._atoms["_NET_ACTIVE_WINDOW"], X.AnyPropertyType)
        target = found.value[0] if found is not None and len(found.value) else 0
        if not target:
            return 0
        window = self._display.create_resource_object("window", target)
        try:
            if self._atoms["_NET_WM_PING"] not in (window.get_wm_protocols() or ()):
                return 0
        except error.BadWindow:
            return 0
        self._answered.clear()
        self._number = (self._number + 1) & 0x7FFFFFFF or 1
        data = [self._atoms["_NET_WM_PING"], self._number, target, 0, 0]
        window.send_event(event.ClientMessage(window=target, client_type=self._atoms["WM_PROTOCOLS"], data=(32, data)))
        self._display.flush()
        return self._number

    def _wait(self, limit: float) -> bool:
        """Wait for something to happen; whether something did before `limit`."""
        left = limit - time.monotonic()
        if left <= 0:
            return False
        if not self._display.pending_events() and not select.select([self._display.fileno()], [], [], left)[0]:
            return False
        self._take_in()
        return True

    def _take_in(self) -> None:
        """Take note of what has happened."""
        while self._display.pending_events():
            happened = self._display.next_event()
            if happened.type == self._display.extension_event.DamageNotify:
                self._damaged = True
                self._display.damage_subtract(self._damage)
                self._display.flush()
            elif happened.type == X.PropertyNotify:
                self._managed = True
            elif happened.type == X.ClientMessage and happened.client_type == self._atoms["WM_PROTOCOLS"]:
                self._answered.add(int(happened.data[1][1]))
