"""Acts on elements as acts on points: what the protocol can carry out."""

from collections.abc import Mapping

from claw_envs.gui.acts import (
    BrowserAct,
    Choose,
    Click,
    ClickElement,
    Code,
    Drag,
    DragElement,
    ElementAct,
    Fill,
    Hotkey,
    HoverElement,
    KeyboardAct,
    Move,
    PointerAct,
    ScreenAct,
    Scroll,
    ScrollElement,
    Type,
    Wait,
)
from claw_envs.gui.screen import Element

Plain = PointerAct | KeyboardAct | Code


class ActError(ValueError):
    """An act cannot be carried out; the message is a sentence for the agent."""


def plain(act: ScreenAct, shown: Mapping[str, Element], size: tuple[int, int]) -> list[Plain]:
    """`act` as acts that name no element.

    Args:
        shown: elements of the last look by id.
        size: of the screen, in pixels.

    Raises:
        ActError: if there is no such element, it has no place, a point is off the screen, or only a browser does that.
    """
    if isinstance(act, BrowserAct):
        raise ActError("there is no browser here: a click on an element of a window brings it to the front")
    if isinstance(act, ElementAct):
        return _on_points(act, shown, size)
    assert not isinstance(act, Wait)
    if isinstance(act, Move | Click | Drag | Scroll) and act.x is not None and act.y is not None:
        _check(act.x, act.y, size)
    return [act]


def _on_points(act: ElementAct, shown: Mapping[str, Element], size: tuple[int, int]) -> list[Plain]:
    x, y = _middle(act.id, shown, size)
    match act:
        case ClickElement(_, button, count, keys):
            return [Click(x, y, button, count, keys)]
        case HoverElement():
            return [Move(x, y)]
        case ScrollElement(_, dx, dy):
            return [Scroll(dx, dy, x, y)]
        case DragElement(_, onto):
            return [Drag(*_middle(onto, shown, size), x, y)]
        case Fill(_, text):
            last: Plain = Type(text) if text else Hotkey(("delete",))
            return [Click(x, y), Hotkey(("ctrl", "a")), last]
        case Choose():
            raise ActError("this screen cannot choose by name: click on the list, then on the option")


def _middle(number: str, shown: Mapping[str, Element], size: tuple[int, int]) -> tuple[int, int]:
    element = shown.get(number)
    if element is None:
        raise ActError(f"there is no element {number} on the screen now")
    if element.box is None:
        raise ActError(f"element {number} has no place on the screen")
    x, y, width, height = element.box
    left, top, right, bottom = max(0, x), max(0, y), min(size[0], x + width), min(size[1], y + height)
    if left >= right or top >= bottom:
        raise ActError(f"element {number} is not on the screen: scroll to it, or move its window")
    return (left + right) // 2, (top + bottom) // 2


def _check(x: int, y: int, size: tuple[int, int]) -> None:
    if not (0 <= x < size[0] and 0 <= y < size[1]):
        raise ActError(f"({x}, {y}) is not on the screen, which is {size[0]} by {size[1]}")
