"""Pointer and keyboard of the desktop, moved through XTest as if somebody sat before it.

Any text can be typed: what no key of the layout gives is put on a spare key first. Not covered: input methods.
"""

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from Xlib import XK, X, display
from Xlib.ext import xtest

from claw_envs.gui.desktop.inside.keys import keysym

BUTTONS = {"left": 1, "middle": 2, "right": 3}
_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 4, 5, 6, 7
_SPARES = 60
"""Most keys that are used for what the layout does not give."""
_MOST_NOTCHES = 200
_SHIFT = XK.string_to_keysym("Shift_L")
_DRAG_STEPS = 8


class Input:
    """The pointer and the keyboard of one display. Safe to use from several threads.

    Args:
        name: of the display; the one in the environment where None.
        caught_up: waits until applications have dealt with what was typed, before a spare key changes its symbol:
            they look it up in the layout as it is when they come to it.
    """

    def __init__(self, name: str | None = None, *, caught_up: Callable[[], None] = lambda: None) -> None:
        self._caught_up = caught_up
        self.display: Any = display.Display(name)
        screen = self.display.screen()
        self.root: Any = screen.root
        self.size = int(screen.width_in_pixels), int(screen.height_in_pixels)
        self.lock = threading.RLock()
        self._held: list[int] = []
        self._buttons: set[int] = set()
        self._spare: OrderedDict[int, int] = OrderedDict()
        """Symbol -> spare key that gives it, least recently used first."""
        self._free = self._unused()
        self._spares = len(self._free)

    def position(self) -> tuple[int, int]:
        """Where the pointer is."""
        with self.lock:
            where = self.root.query_pointer()
        return int(where.root_x), int(where.root_y)

    def move(self, x: int, y: int) -> None:
        """Move the pointer; beyond the screen's edge it stays at the edge."""
        with self.lock:
            xtest.fake_input(self.display, X.MotionNotify, x=int(x), y=int(y))
            self.display.sync()

    def press(self, button: str = "left") -> None:
        """Press a button of the mouse and hold it."""
        self._button(BUTTONS[button], down=True)

    def release(self, button: str = "left") -> None:
        """Let a button of the mouse go."""
        self._button(BUTTONS[button], down=False)

    def click(self, button: str = "left", count: int = 1) -> None:
        """Click where the pointer is."""
        for _ in range(count):
            self.press(button)
            self.release(button)

    def drag(self, x: int, y: int, button: str = "left") -> None:
        """Drag from where the pointer is to a point, by way of some between, as applications look for movement."""
        from_x, from_y = self.position()
        self.press(button)
        for step in range(1, _DRAG_STEPS + 1):
            part = step / _DRAG_STEPS
            self.move(round(from_x + (x - from_x) * part), round(from_y + (y - from_y) * part))
        self.release(button)

    def scroll(self, dx: float = 0.0, dy: float = 0.0) -> None:
        """Turn the wheel: notches to the right and down, negative to the left and up."""
        for amount, less, more in ((dy, _WHEEL_UP, _WHEEL_DOWN), (dx, _WHEEL_LEFT, _WHEEL_RIGHT)):
            notches = min(_MOST_NOTCHES, round(abs(amount)) or (1 if amount else 0))
            for _ in range(notches):
                for down in (True, False):
                    self._button(more if amount > 0 else less, down=down)

    def key_down(self, name: str) -> None:
        """Press a key and hold it.

        Raises:
            KeyNameError: if there is none.
        """
        self._key(keysym(name), down=True)

    def key_up(self, name: str) -> None:
        """Let a key go.

        Raises:
            KeyNameError: if there is none.
        """
        self._key(keysym(name), down=False)

    def hotkey(self, *names: str) -> None:
        """Press keys in order and let them go in reverse order.

        Raises:
            KeyNameError: if there is one that does not exist; then none is pressed.
        """
        symbols = [keysym(name) for name in names]
        with self.lock:
            for symbol in symbols:
                self._key(symbol, down=True)
            for symbol in reversed(symbols):
                self._key(symbol, down=False)

    def type(self, text: str) -> None:
        """Type a text; a line break is Enter.

        Raises:
            KeyNameError: if it holds what cannot be typed; then nothing is.
        """
        symbols = [keysym(character) for character in text.replace("\r\n", "\n")]
        with self.lock:
            for some in self._batches(symbols):
                self._provide(some)
                for symbol in some:
                    self._key(symbol, down=True)
                    self._key(symbol, down=False)

    def release_all(self) -> None:
        """Let go of every key and button that is held."""
        with self.lock:
            for keycode in reversed(self._held):
                xtest.fake_input(self.display, X.KeyRelease, keycode)
            for button in self._buttons:
                xtest.fake_input(self.display, X.ButtonRelease, button)
            self._held.clear()
            self._buttons.clear()
            self.display.sync()

    def _button(self, number: int, *, down: bool) -> None:
        with self.lock:
            (self._buttons.add if down else self._buttons.discard)(number)
            xtest.fake_input(self.display, X.ButtonPress if down else X.ButtonRelease, number)
            self.display.sync()

    def _key(self, symbol: int, *, down: bool) -> None:
        with self.lock:
            keycode, shifted = self._place(symbol)
            shift = self.display.keysym_to_keycode(_SHIFT)
            needs_shift = shifted and down and shift not in self._held
            if needs_shift:
                xtest.fake_input(self.display, X.KeyPress, shift)
            xtest.fake_input(self.display, X.KeyPress if down else X.KeyRelease, keycode)
            if needs_shift:
                xtest.fake_input(self.display, X.KeyRelease, shift)
            if down and keycode not in self._held:
                self._held.append(keycode)
            elif not down and keycode in self._held:
                self._held.remove(keycode)
            self.display.sync()

    def _place(self, symbol: int) -> tuple[int, bool]:
        """The key that gives a symbol, and whether only with shift."""
        found = self._in_layout(symbol)
        if found is None:
            self._provide([symbol])
            found = self._spare[symbol], False
        return found

    def _in_layout(self, symbol: int) -> tuple[int, bool] | None:
        self._take_in()
        places = [(index, code) for code, index in self.display.keysym_to_keycodes(symbol) if index in (0, 1)]
        if not places:
            return None
        index, code = min(places)
        return code, index == 1

    def _take_in(self) -> None:
        """Notice a layout that somebody else has changed."""
        while self.display.pending_events():
            event = self.display.next_event()
            if event.type == X.MappingNotify:
                with contextlib.suppress(KeyError):
                    self.display.refresh_keyboard_mapping(event)

    def _batches(self, symbols: list[int]) -> Iterator[list[int]]:
        """Symbols in order, as many at a time as spare keys suffice for."""
        batch: list[int] = []
        spare: set[int] = set()
        for symbol in symbols:
            if symbol not in spare and self._in_layout(symbol) is None:
                if len(spare) == self._spares:
                    yield batch
                    batch, spare = [], set()
                spare.add(symbol)
            batch.append(symbol)
        yield batch

    def _provide(self, symbols: list[int]) -> None:
        """Put what the layout does not give on spare keys, all of it before the first is pressed."""
        wanted = [symbol for symbol in dict.fromkeys(symbols) if self._in_layout(symbol) is None]
        new = [symbol for symbol in wanted if symbol not in self._spare]
        for symbol in wanted:
            if symbol in self._spare:
                self._spare.move_to_end(symbol)
        if not new:
            return
        self._caught_up()
        for symbol in new:
            self._spare[symbol] = self._free.pop() if self._free else self._spare.popitem(last=False)[1]
            self.display.change_keyboard_mapping(self._spare[symbol], [[symbol, symbol]])
        self.display.sync()
        self._take_in()

    def _unused(self) -> list[int]:
        first, last = self.display.display.info.min_keycode, self.display.display.info.max_keycode
        mapping = self.display.get_keyboard_mapping(first, last - first + 1)
        return [first + n for n, symbols in enumerate(mapping) if not any(symbols)][:_SPARES]
