"""What an agent does on a screen, whatever words it used: what parsers write and screens carry out.

Coordinates are pixels from the top left corner of the screen. Keys have the names of pyautogui, in lower case (`enter`,
`ctrl`, `pageup`, `f5`), or are one character. Elements are named by the ids of the last `View`.
"""

from typing import Literal

import msgspec

Button = Literal["left", "middle", "right"]


class Move(msgspec.Struct, frozen=True, tag=True):
    """Move the pointer."""

    x: int
    y: int


class Click(msgspec.Struct, frozen=True, tag=True):
    """Click where the pointer is to go first; where `x` and `y` are None, where it is."""

    x: int | None = None
    y: int | None = None
    button: Button = "left"
    count: int = 1
    """2 is a double click, 3 a triple click."""
    keys: tuple[str, ...] = ()
    """Held meanwhile."""


class ButtonDown(msgspec.Struct, frozen=True, tag=True):
    """Press a button of the mouse and hold it."""

    button: Button = "left"


class ButtonUp(msgspec.Struct, frozen=True, tag=True):
    """Let a button of the mouse go."""

    button: Button = "left"


class Drag(msgspec.Struct, frozen=True, tag=True):
    """Drag to a point, from another or from where the pointer is."""

    x: int
    y: int
    from_x: int | None = None
    from_y: int | None = None
    button: Button = "left"


class Scroll(msgspec.Struct, frozen=True, tag=True):
    """Turn the wheel over a point, or where the pointer is."""

    dx: float = 0.0
    """Notches to the right; negative to the left."""
    dy: float = 0.0
    """Notches down; negative up."""
    x: int | None = None
    y: int | None = None


class Type(msgspec.Struct, frozen=True, tag=True):
    """Type a text where the keyboard's focus is; a line break is Enter."""

    text: str


class Hotkey(msgspec.Struct, frozen=True, tag=True):
    """Press keys in order and let them go in reverse order; one key is a key press."""

    keys: tuple[str, ...]


class KeyDown(msgspec.Struct, frozen=True, tag=True):
    """Press a key and hold it."""

    key: str


class KeyUp(msgspec.Struct, frozen=True, tag=True):
    """Let a key go."""

    key: str


class Wait(msgspec.Struct, frozen=True, tag=True):
    """Do nothing for some seconds."""

    seconds: float = 1.0


class Code(msgspec.Struct, frozen=True, tag=True):
    """Calls of pyautogui, carried out by an interpreter inside a desktop's sandbox; no browser takes it."""

    code: str


class ClickElement(msgspec.Struct, frozen=True, tag=True):
    """Click in the middle of an element, which is scrolled into view."""

    id: str
    button: Button = "left"
    count: int = 1
    keys: tuple[str, ...] = ()


class HoverElement(msgspec.Struct, frozen=True, tag=True):
    """Move the pointer to the middle of an element."""

    id: str


class Fill(msgspec.Struct, frozen=True, tag=True):
    """Replace what a field holds."""

    id: str
    text: str


class Choose(msgspec.Struct, frozen=True, tag=True):
    """Choose options of a list by what they show."""

    id: str
    options: tuple[str, ...]


class DragElement(msgspec.Struct, frozen=True, tag=True):
    """Drag an element onto another."""

    id: str
    onto: str


class ScrollElement(msgspec.Struct, frozen=True, tag=True):
    """Turn the wheel over an element."""

    id: str
    dx: float = 0.0
    dy: float = 0.0


class Goto(msgspec.Struct, frozen=True, tag=True):
    """Open an address in the current tab; browsers only, as all that follow down to `CloseTab`."""

    url: str


class Back(msgspec.Struct, frozen=True, tag=True):
    """Go back in the tab's history."""


class Forward(msgspec.Struct, frozen=True, tag=True):
    """Go forward in the tab's history."""


class Reload(msgspec.Struct, frozen=True, tag=True):
    """Load the page again."""


class NewTab(msgspec.Struct, frozen=True, tag=True):
    """Open a tab and change to it."""

    url: str = "about:blank"


class SwitchTab(msgspec.Struct, frozen=True, tag=True):
    """Change to a tab by its number, from 0."""

    index: int


class CloseTab(msgspec.Struct, frozen=True, tag=True):
    """Close the current tab."""


class Done(msgspec.Struct, frozen=True, tag=True):
    """Say that the task is done; ends the episode, as the two that follow."""


class Fail(msgspec.Struct, frozen=True, tag=True):
    """Say that the task cannot be done."""

    reason: str = ""


class Answer(msgspec.Struct, frozen=True, tag=True):
    """Answer the task's question."""

    text: str


Ending = Done | Fail | Answer
PointerAct = Move | Click | ButtonDown | ButtonUp | Drag | Scroll
KeyboardAct = Type | Hotkey | KeyDown | KeyUp
ElementAct = ClickElement | HoverElement | Fill | Choose | DragElement | ScrollElement
BrowserAct = Goto | Back | Forward | Reload | NewTab | SwitchTab | CloseTab
ScreenAct = PointerAct | KeyboardAct | ElementAct | BrowserAct | Wait | Code
Act = ScreenAct | Ending
