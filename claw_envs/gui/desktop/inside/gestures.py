"""pyautogui's functions of the mouse and the keyboard, by its names and with its arguments, over a desktop's input.

They do what pyautogui 0.9.54 does on Linux, but for these:
- the corners of the screen stop nothing; `FAILSAFE` may be set, and changes nothing;
- a text may hold any character; a key that does not exist is an error, where pyautogui passes it over;
- an offset that is not given is 0; every way between two points is even, whatever `tween` says;
- the pause after each call is made before the next one, so that the last has none.

Not covered: screenshots, images that are looked for, message boxes, windows.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from claw_envs.gui.desktop.inside.arguments import (
    CodeError,
    button_of,
    key_of,
    keys_of,
    notches_of,
    pixels_of,
    seconds_of,
    times_of,
)

MOST_TEXT = 20_000
_LEAST_DURATION, _STEP = 0.1, 0.05
"""Seconds: a shorter way is made at once, and a longer one in steps of the second, as pyautogui does."""
_PASSED_OVER = ("tween", "logScreenshot", "_pause")
_RENAMED = {"xOffset": "x", "yOffset": "y", "mouseDownUp": "pressing"}


class Input(Protocol):
    """The pointer and the keyboard that the functions drive. A key that does not exist is a ValueError."""

    size: tuple[int, int]

    def position(self) -> tuple[int, int]: ...
    def move(self, x: int, y: int) -> None: ...
    def press(self, button: str = "left") -> None: ...
    def release(self, button: str = "left") -> None: ...
    def scroll(self, dx: float = 0.0, dy: float = 0.0) -> None: ...
    def key_down(self, name: str) -> None: ...
    def key_up(self, name: str) -> None: ...
    def type(self, text: str) -> None: ...


class Point(NamedTuple):
    """A pixel of the screen, which may lie beyond its edge."""

    x: int
    y: int


class Size(NamedTuple):
    """Of the screen, in pixels."""

    width: int
    height: int


class Holding:
    """Keys that are held from `__enter__` to `__exit__`.

    Args:
        wait: called after each key that goes down or up.
        reverse: whether the last one goes up first.
    """

    def __init__(
        self, hands: Input, names: Sequence[str], *, wait: Callable[[], None] = lambda: None, reverse: bool = False
    ) -> None:
        self._hands, self._names, self._wait, self._reverse = hands, names, wait, reverse
        self._held: list[str] = []

    def __enter__(self) -> None:
        try:
            for name in self._names:
                self._hands.key_down(name)
                self._held.append(name)
                self._wait()
        except ValueError:
            self._wait = lambda: None
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        held, self._held = self._held[::-1] if self._reverse else self._held, []
        for name in held:
            self._hands.key_up(name)
        for _name in held:
            self._wait()


class Gestures:
    """The functions, which `call` calls by their names.

    Args:
        hands: what they drive.
        sleep: waits for some seconds, or raises CodeError where there are not so many left.
    """

    def __init__(self, hands: Input, sleep: Callable[[float], None]) -> None:
        self._hands, self._sleep = hands, sleep
        self.settings: dict[str, Any] = {"PAUSE": 0.1, "FAILSAFE": False}
        """What code may set."""
        self._begun = False

    def call(self, name: str, args: Sequence[Any], named: dict[str, Any]) -> Any:
        """Call a function.

        Raises:
            CodeError: if there is none of that name, or its arguments are not right.
            ValueError: if there is no such key.
        """
        function = FUNCTIONS.get(name)
        if function is None:
            raise CodeError(f"there is no pyautogui.{name} here; there are {', '.join(FUNCTIONS)}")
        given = {_RENAMED.get(key, key): value for key, value in named.items() if key not in _PASSED_OVER}
        try:
            bound = inspect.signature(function).bind(self, *args, **given)
        except TypeError as error:
            raise CodeError(f"pyautogui.{name}: {error}") from None
        if function not in _WITHOUT_PAUSE:
            if self._begun and named.get("_pause", True):
                self._sleep(seconds_of(self.settings["PAUSE"], "PAUSE"))
            self._begun = True
        return function(*bound.args, **bound.kwargs)

    # --- the mouse ------------------------------------------------------------------------------------------------

    def position(self, x: Any = None, y: Any = None) -> Point:
        here = self._hands.position()
        return Point(here[0] if x is None else pixels_of(x, "x"), here[1] if y is None else pixels_of(y, "y"))

    def screen_size(self) -> Size:
        return Size(*self._hands.size)

    def on_screen(self, x: Any, y: Any = None) -> bool:
        point, size = self._point(x, y), self.screen_size()
        return bool(0 <= point.x < size.width and 0 <= point.y < size.height)

    def move_to(self, x: Any = None, y: Any = None, duration: Any = 0.0, tween: Any = None) -> None:
        self._go(self._point(x, y), duration)

    def move_rel(self, x: Any = None, y: Any = None, duration: Any = 0.0, tween: Any = None) -> None:
        self._go(self._beside(x, y), duration)

    def mouse_down(self, x: Any = None, y: Any = None, button: Any = "left", duration: Any = 0.0) -> None:
        name = button_of(button)
        self._go(self._point(x, y))
        self._hands.press(name)

    def mouse_up(self, x: Any = None, y: Any = None, button: Any = "left", duration: Any = 0.0) -> None:
        name = button_of(button)
        self._go(self._point(x, y))
        self._hands.release(name)

    def click(
        self,
        x: Any = None,
        y: Any = None,
        clicks: Any = 1,
        interval: Any = 0.0,
        button: Any = "left",
        duration: Any = 0.0,
        tween: Any = None,
    ) -> None:
        name, count, wait = button_of(button), times_of(clicks, "clicks"), seconds_of(interval, "interval")
        self._go(self._point(x, y), duration)
        for _ in range(count):
            self._hands.press(name)
            self._hands.release(name)
            self._sleep(wait)

    def left_click(self, x: Any = None, y: Any = None, interval: Any = 0.0, duration: Any = 0.0) -> None:
        self.click(x, y, 1, interval, "left", duration)

    def right_click(self, x: Any = None, y: Any = None, interval: Any = 0.0, duration: Any = 0.0) -> None:
        self.click(x, y, 1, interval, "right", duration)

    def middle_click(self, x: Any = None, y: Any = None, interval: Any = 0.0, duration: Any = 0.0) -> None:
        self.click(x, y, 1, interval, "middle", duration)

    def double_click(
        self, x: Any = None, y: Any = None, interval: Any = 0.0, button: Any = "left", duration: Any = 0.0
    ) -> None:
        self.click(x, y, 2, interval, button, duration)

    def triple_click(
        self, x: Any = None, y: Any = None, interval: Any = 0.0, button: Any = "left", duration: Any = 0.0
    ) -> None:
        self.click(x, y, 3, interval, button, duration)

    def drag_to(
        self,
        x: Any = None,
        y: Any = None,
        duration: Any = 0.0,
        tween: Any = None,
        button: Any = "left",
        *,
        pressing: Any = True,
    ) -> None:
        self._drag(self._point(x, y), duration, button, pressing=bool(pressing))

    def drag_rel(
        self,
        x: Any = 0,
        y: Any = 0,
        duration: Any = 0.0,
        tween: Any = None,
        button: Any = "left",
        *,
        pressing: Any = True,
    ) -> None:
        goal = self._beside(x, y)
        if goal != self.position():
            self._drag(goal, duration, button, pressing=bool(pressing))

    def scroll(self, clicks: Any, x: Any = None, y: Any = None) -> None:
        notches = notches_of(clicks)
        self._go(self._point(x, y))
        self._hands.scroll(0.0, float(-notches))

    def hscroll(self, clicks: Any, x: Any = None, y: Any = None) -> None:
        notches = notches_of(clicks)
        self._go(self._point(x, y))
        self._hands.scroll(float(notches), 0.0)

    def _point(self, x: Any, y: Any) -> Point:
        if isinstance(x, str):
            raise CodeError("images cannot be looked for by code: look at the screen, and write the point")
        if isinstance(x, list | tuple):
            if y is not None or len(x) not in (2, 4):
                raise CodeError("a point is two numbers, or one list of two, or of four, which is a box")
            corner = [pixels_of(part, "a coordinate") for part in x]
            x, y = corner if len(x) == 2 else (corner[0] + corner[2] // 2, corner[1] + corner[3] // 2)
        return self.position(x, y)

    def _beside(self, x: Any, y: Any) -> Point:
        if isinstance(x, list | tuple):
            if len(x) != 2:
                raise CodeError("an offset is two numbers, or one list of two")
            x, y = x
        here = self.position()
        return Point(here.x + pixels_of(x or 0, "xOffset"), here.y + pixels_of(y or 0, "yOffset"))

    def _go(self, goal: Point, duration: Any = 0.0) -> None:
        time = seconds_of(duration, "duration")
        if time > _LEAST_DURATION:
            here, steps = self.position(), max(int(time / _STEP), 1)
            for step in range(steps):
                self._sleep(time / steps)
                part = step / steps
                self._hands.move(round(here.x + (goal.x - here.x) * part), round(here.y + (goal.y - here.y) * part))
            self._sleep(time / steps)
        self._hands.move(goal.x, goal.y)

    def _drag(self, goal: Point, duration: Any, button: Any, *, pressing: bool) -> None:
        name = button_of(button)
        if pressing:
            self._hands.press(name)
        try:
            self._go(goal, duration)
        finally:
            if pressing:
                self._hands.release(name)

    # --- the keyboard ---------------------------------------------------------------------------------------------

    def key_down(self, key: Any) -> None:
        self._hands.key_down(key_of(key))

    def key_up(self, key: Any) -> None:
        self._hands.key_up(key_of(key))

    def press(self, keys: Any, presses: Any = 1, interval: Any = 0.0) -> None:
        names, count, wait = keys_of(keys), times_of(presses, "presses"), seconds_of(interval, "interval")
        for _ in range(count):
            for name in names:
                self._hands.key_down(name)
                self._hands.key_up(name)
            self._sleep(wait)

    def write(self, message: Any, interval: Any = 0.0) -> None:
        wait = seconds_of(interval, "interval")
        if isinstance(message, list | tuple):
            for name in keys_of(message):
                self.press(name, 1, wait)
            return
        if not isinstance(message, str) or len(message) > MOST_TEXT:
            raise CodeError(f"write takes a text of at most {MOST_TEXT} characters, or a list of keys")
        for part in list(message) if wait else [message]:
            self._hands.type(part)
            self._sleep(wait)

    def hotkey(self, *args: Any, interval: Any = 0.0) -> None:
        names = keys_of(args[0] if args and isinstance(args[0], list | tuple) else args)
        wait = seconds_of(interval, "interval")
        with Holding(self._hands, names, wait=lambda: self._sleep(wait), reverse=True):
            pass

    def hold(self, keys: Any) -> Holding:
        return Holding(self._hands, keys_of(keys))

    def sleep(self, seconds: Any) -> None:
        self._sleep(seconds_of(seconds, "a pause"))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "click": Gestures.click,
    "leftClick": Gestures.left_click,
    "rightClick": Gestures.right_click,
    "middleClick": Gestures.middle_click,
    "doubleClick": Gestures.double_click,
    "tripleClick": Gestures.triple_click,
    "moveTo": Gestures.move_to,
    **dict.fromkeys(("moveRel", "move"), Gestures.move_rel),
    "mouseDown": Gestures.mouse_down,
    "mouseUp": Gestures.mouse_up,
    "dragTo": Gestures.drag_to,
    **dict.fromkeys(("dragRel", "drag"), Gestures.drag_rel),
    **dict.fromkeys(("scroll", "vscroll"), Gestures.scroll),
    "hscroll": Gestures.hscroll,
    **dict.fromkeys(("write", "typewrite"), Gestures.write),
    "press": Gestures.press,
    **dict.fromkeys(("hotkey", "shortcut"), Gestures.hotkey),
    "keyDown": Gestures.key_down,
    "keyUp": Gestures.key_up,
    "hold": Gestures.hold,
    "sleep": Gestures.sleep,
    "position": Gestures.position,
    **dict.fromkeys(("size", "resolution"), Gestures.screen_size),
    "onScreen": Gestures.on_screen,
}
"""pyautogui's names -> the functions."""
_WITHOUT_PAUSE = (Gestures.position, Gestures.screen_size, Gestures.on_screen, Gestures.sleep)
CONSTANTS = {"LEFT": "left", "MIDDLE": "middle", "RIGHT": "right", "PRIMARY": "left", "SECONDARY": "right"}
_CURVES = ("Quad", "Cubic", "Quart", "Quint", "Sine", "Expo", "Circ", "Elastic", "Back", "Bounce")
TWEENS = {"linear", *(f"ease{way}{curve}" for way in ("In", "Out", "InOut") for curve in _CURVES)}
