"""Names of keys: pyautogui's to Playwright's.

Not covered: dead keys, media keys and keyboard layouts other than the US one; any other character is typed as text.
"""

_NAMED = {
    "enter": "Enter", "return": "Enter", "esc": "Escape", "escape": "Escape", "tab": "Tab", "space": "Space",
    "backspace": "Backspace", "delete": "Delete", "del": "Delete", "insert": "Insert", "home": "Home", "end": "End",
    "pageup": "PageUp", "pgup": "PageUp", "page_up": "PageUp",
    "pagedown": "PageDown", "pgdn": "PageDown", "page_down": "PageDown",
    "up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight",
    "arrowup": "ArrowUp", "arrowdown": "ArrowDown", "arrowleft": "ArrowLeft", "arrowright": "ArrowRight",
    "ctrl": "Control", "control": "Control", "ctrlleft": "Control", "ctrlright": "Control",
    "alt": "Alt", "altleft": "Alt", "altright": "Alt", "option": "Alt",
    "shift": "Shift", "shiftleft": "Shift", "shiftright": "Shift",
    "win": "Meta", "winleft": "Meta", "winright": "Meta", "command": "Meta", "cmd": "Meta", "super": "Meta",
    "meta": "Meta", "capslock": "CapsLock", "numlock": "NumLock", "scrolllock": "ScrollLock",
    "printscreen": "PrintScreen", "prtsc": "PrintScreen", "pause": "Pause", "apps": "ContextMenu",
    "menu": "ContextMenu", "add": "NumpadAdd", "subtract": "NumpadSubtract", "multiply": "NumpadMultiply",
    "divide": "NumpadDivide", "decimal": "NumpadDecimal",
    "\n": "Enter", "\r": "Enter", "\t": "Tab", " ": "Space",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
    **{f"num{digit}": f"Numpad{digit}" for digit in range(10)},
}  # fmt: skip

_CODES = {
    **{letter: f"Key{letter.upper()}" for letter in "abcdefghijklmnopqrstuvwxyz"},
    **{digit: f"Digit{digit}" for digit in "0123456789"},
    "-": "Minus", "=": "Equal", "[": "BracketLeft", "]": "BracketRight", "\\": "Backslash", ";": "Semicolon",
    "'": "Quote", "`": "Backquote", ",": "Comma", ".": "Period", "/": "Slash",
}  # fmt: skip
"""Keys by what they write; named so that a held Shift makes another character of them."""


def playwright_key(key: str) -> str | None:
    """Playwright's name of a key; None where there is no such key.

    Args:
        key: pyautogui's name in any case, or one character.
    """
    named = _NAMED.get(key.lower())
    if named is not None:
        return named
    return _CODES.get(key, key) if len(key) == 1 else None
