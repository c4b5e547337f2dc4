"""Carry out an agent's acts on the desktop: `claw_envs.gui.acts`, as the objects that they are in JSON.

Not covered: acts of browsers, which answer so; endings, which are nobody's to carry out.
"""

import time
from collections.abc import Callable
from typing import Any

from claw_envs.gui.desktop.inside.bus import Bus
from claw_envs.gui.desktop.inside.calls import Call
from claw_envs.gui.desktop.inside.elements import Elements
from claw_envs.gui.desktop.inside.keys import KeyNameError, keysym
from claw_envs.gui.desktop.inside.node import Node, overlap
from claw_envs.gui.desktop.inside.options import options_of
from claw_envs.gui.desktop.inside.windows import Windows
from claw_envs.gui.desktop.inside.x import Input

_SELECTION = "org.a11y.atspi.Selection"
_EDITABLE = "org.a11y.atspi.EditableText"
_ANSWER_TIMEOUT = 1.0
_NO_BROWSER = "there is no browser here: a click on an element of a window brings it to the front"


class ActError(ValueError):
    """An act cannot be carried out; the message is a sentence for the agent."""


class Acting:
    """Hands for one desktop.

    Args:
        settle: waits until the screen has settled, some seconds at most.
        code: carries out calls of pyautogui within some seconds; what was wrong with them.
    """

    def __init__(
        self,
        hands: Input,
        elements: Elements,
        bus: Callable[[], Bus],
        windows: Windows,
        *,
        settle: Callable[[float], None],
        code: Callable[[str, float], str | None],
    ) -> None:
        self._hands, self._elements, self._bus = hands, elements, bus
        self._windows, self._settle, self._code = windows, settle, code

    def do(self, act: dict[str, Any], timeout: float) -> str | None:
        """Carry out one act; what was wrong with it, in a sentence."""
        carry_out = getattr(self, f"_do_{act['type'].lower()}", None)
        if carry_out is None:
            return _NO_BROWSER
        try:
            said: str | None = carry_out(act, timeout)
        except (ActError, KeyNameError) as error:
            return str(error)
        return said

    def _to(self, x: int | None, y: int | None) -> None:
        if x is None or y is None:
            return
        width, height = self._hands.size
        if not (0 <= x < width and 0 <= y < height):
            raise ActError(f"({x}, {y}) is not on the screen, which is {width} by {height}")
        self._hands.move(x, y)

    def _do_move(self, act: dict[str, Any], _: float) -> None:
        self._to(act["x"], act["y"])

    def _do_click(self, act: dict[str, Any], _: float) -> None:
        keys = act.get("keys", ())
        for key in keys:
            keysym(key)
        self._to(act.get("x"), act.get("y"))
        for key in keys:
            self._hands.key_down(key)
        self._hands.click(act.get("button", "left"), act.get("count", 1))
        for key in reversed(keys):
            self._hands.key_up(key)

    def _do_buttondown(self, act: dict[str, Any], _: float) -> None:
        self._hands.press(act.get("button", "left"))

    def _do_buttonup(self, act: dict[str, Any], _: float) -> None:
        self._hands.release(act.get("button", "left"))

    def _do_drag(self, act: dict[str, Any], _: float) -> None:
        width, height = self._hands.size
        if not (0 <= act["x"] < width and 0 <= act["y"] < height):
            raise ActError(f"({act['x']}, {act['y']}) is not on the screen, which is {width} by {height}")
        self._to(act.get("from_x"), act.get("from_y"))
        self._hands.drag(act["x"], act["y"], act.get("button", "left"))

    def _do_scroll(self, act: dict[str, Any], _: float) -> None:
        self._to(act.get("x"), act.get("y"))
        self._hands.scroll(act.get("dx", 0.0), act.get("dy", 0.0))

    def _do_type(self, act: dict[str, Any], _: float) -> None:
        self._hands.type(act["text"])

    def _do_hotkey(self, act: dict[str, Any], _: float) -> None:
        self._hands.hotkey(*act["keys"])

    def _do_keydown(self, act: dict[str, Any], _: float) -> None:
        self._hands.key_down(act["key"])

    def _do_keyup(self, act: dict[str, Any], _: float) -> None:
        self._hands.key_up(act["key"])

    def _do_wait(self, act: dict[str, Any], timeout: float) -> None:
        time.sleep(max(0.0, min(act.get("seconds", 1.0), timeout)))

    def _do_code(self, act: dict[str, Any], timeout: float) -> str | None:
        return self._code(act["code"], timeout)

    def _element(self, number: str) -> Node:
        node = self._elements.find(number)
        if node is None:
            raise ActError(f"there is no element {number} on the screen now")
        return node

    def _middle(self, node: Node, number: str) -> tuple[int, int]:
        """A point of an element that is on the screen."""
        if node.box is None:
            raise ActError(f"element {number} has no place on the screen")
        x, y, width, height = overlap(overlap(node.box, (0, 0, *self._hands.size)), node.view or node.box)
        if not (width and height):
            raise ActError(f"element {number} is not on the screen: scroll to it, or move its window")
        return x + width // 2, y + height // 2

    def _do_clickelement(self, act: dict[str, Any], timeout: float) -> None:
        """A click on a window brings it to the front, wherever it is."""
        node = self._element(act["id"])
        if node.aria == "window" and (window := self._windows.find(node.name, strict=True)) is not None:
            self._windows.activate(window)
            return
        x, y = self._middle(node, act["id"])
        self._do_click(act | {"x": x, "y": y}, timeout)

    def _do_hoverelement(self, act: dict[str, Any], _: float) -> None:
        self._to(*self._middle(self._element(act["id"]), act["id"]))

    def _do_scrollelement(self, act: dict[str, Any], timeout: float) -> None:
        x, y = self._middle(self._element(act["id"]), act["id"])
        self._do_scroll(act | {"x": x, "y": y}, timeout)

    def _do_dragelement(self, act: dict[str, Any], _: float) -> None:
        x, y = self._middle(self._element(act["onto"]), act["onto"])
        self._to(*self._middle(self._element(act["id"]), act["id"]))
        self._hands.drag(x, y)

    def _do_fill(self, act: dict[str, Any], timeout: float) -> None:
        """As a user does: click in it, select all, type; a cell of a table is replaced by what is typed into it."""
        for character in act["text"]:
            keysym(character)
        node = self._element(act["id"])
        if "read-only" in node.states or node.aria in ("button", "menuitem", "checkbox", "radio", "tab", "window"):
            raise ActError(f"element {act['id']} is a {node.aria}, which holds no text")
        self._to(*self._middle(node, act["id"]))
        self._hands.click()
        self._settle(timeout)
        if node.aria == "gridcell":
            self._hands.type(act["text"] + "\n")
            return
        if not act["text"].isascii() and self._put(node, act["text"]):
            return
        self._hands.hotkey("ctrl", "a")
        if act["text"]:
            self._hands.type(act["text"])
        else:
            self._hands.hotkey("delete")

    def _put(self, node: Node, text: str) -> bool:
        """Have the field itself take the text, where it can: GTK drops a selection when keys change their symbols."""
        call = Call(node.ref, _EDITABLE, "SetTextContents", "(s)", (text,))
        (answer,) = self._bus().ask([call], deadline=time.monotonic() + _ANSWER_TIMEOUT)
        return bool(answer and answer[0])

    def _do_choose(self, act: dict[str, Any], timeout: float) -> None:
        """By AT-SPI, as a list that is not open shows nothing to click on."""
        node = self._element(act["id"])
        for option in act["options"]:
            self._choose(node, act["id"], option)
            self._settle(timeout)

    def _choose(self, node: Node, number: str, option: str) -> None:
        """Of the element itself: the menu in a combo box is one that would be left half open."""
        bus, deadline = self._bus(), time.monotonic() + _ANSWER_TIMEOUT
        found = options_of(bus, node.ref, deadline)
        for name, place in found:
            if name == option:
                call = Call(node.ref, _SELECTION, "SelectChild", "(i)", (place,))
                (answer,) = bus.ask([call], deadline=deadline)
                if answer and answer[0]:
                    return
        names = ", ".join(repr(name) for name, _ in found) or "none"
        raise ActError(f"element {number} has no option {option!r} that can be chosen; it has {names}")
