"""Acts as calls of pyautogui, as OSWorld's server runs them."""

from claw_envs.gui.acts import (
    ButtonDown,
    ButtonUp,
    Click,
    Code,
    Drag,
    Hotkey,
    KeyboardAct,
    KeyDown,
    KeyUp,
    Move,
    PointerAct,
    Scroll,
    Type,
)

MARK = "pyautogui.FAILSAFE = False"
"""In every script, by which a running one is found."""
PREFIX = f"import pyautogui; import time; {MARK}; "
_DRAG_SECONDS = 0.5
"""As long as applications need to notice one."""
_LESS = 'pyautogui.hotkey("shift", ",")'
"""pyautogui's own way to type `<` gives `>` under X."""


def script(act: PointerAct | KeyboardAct | Code) -> str:
    """`act` as Python.

    >>> script(Click(x=3, y=4, count=2))
    "import pyautogui; import time; pyautogui.FAILSAFE = False; pyautogui.click(x=3, y=4, clicks=2, button='left')"
    """
    return PREFIX + (act.code if isinstance(act, Code) else "; ".join(_calls(act)))


def _calls(act: PointerAct | KeyboardAct) -> list[str]:
    match act:
        case Move(x, y):
            return [f"pyautogui.moveTo({x}, {y})"]
        case Click():
            place = "" if act.x is None or act.y is None else f"x={act.x}, y={act.y}, "
            held = [f"pyautogui.keyDown({key!r})" for key in act.keys]
            let_go = [f"pyautogui.keyUp({key!r})" for key in reversed(act.keys)]
            return [*held, f"pyautogui.click({place}clicks={act.count}, button={act.button!r})", *let_go]
        case ButtonDown(button):
            return [f"pyautogui.mouseDown(button={button!r})"]
        case ButtonUp(button):
            return [f"pyautogui.mouseUp(button={button!r})"]
        case Drag():
            start = (
                [] if act.from_x is None or act.from_y is None else [f"pyautogui.moveTo({act.from_x}, {act.from_y})"]
            )
            return [*start, f"pyautogui.dragTo({act.x}, {act.y}, duration={_DRAG_SECONDS}, button={act.button!r})"]
        case Scroll():
            return _scroll(act)
        case Type(text):
            return _typed(text)
        case Hotkey(keys):
            return [f"pyautogui.hotkey({', '.join(map(repr, keys))})"]
        case KeyDown(key):
            return [f"pyautogui.keyDown({key!r})"]
        case KeyUp(key):
            return [f"pyautogui.keyUp({key!r})"]


def _scroll(act: Scroll) -> list[str]:
    calls = [] if act.x is None or act.y is None else [f"pyautogui.moveTo({act.x}, {act.y})"]
    if act.dy:
        calls.append(f"pyautogui.vscroll({-_notches(act.dy)})")
    if act.dx:
        calls.append(f"pyautogui.hscroll({_notches(act.dx)})")
    return calls or ["pass"]


def _notches(distance: float) -> int:
    """A whole number of them, at least one."""
    return round(distance) or (1 if distance > 0 else -1)


def _typed(text: str) -> list[str]:
    calls: list[str] = []
    for number, part in enumerate(text.split("<")):
        calls += [_LESS] if number else []
        calls += [f"pyautogui.typewrite({part!r})"] if part else []
    return calls or ["pass"]
