"""Names of keys as pyautogui has them -> key symbols of X.

Not covered: which key of the keyboard gives a symbol; see `keyboard`.
"""

from Xlib import XK

XK.load_keysym_group("xf86")
_NAMES = {
    "enter": "Return", "return": "Return", "esc": "Escape", "escape": "Escape", "tab": "Tab", "space": "space",
    "backspace": "BackSpace", "delete": "Delete", "del": "Delete", "insert": "Insert", "home": "Home", "end": "End",
    "pageup": "Page_Up", "pgup": "Page_Up", "pagedown": "Page_Down", "pgdn": "Page_Down",
    "up": "Up", "down": "Down", "left": "Left", "right": "Right",
    "shift": "Shift_L", "shiftleft": "Shift_L", "shiftright": "Shift_R",
    "ctrl": "Control_L", "control": "Control_L", "ctrlleft": "Control_L", "ctrlright": "Control_R",
    "alt": "Alt_L", "altleft": "Alt_L", "altright": "Alt_R", "option": "Alt_L", "altgr": "ISO_Level3_Shift",
    "win": "Super_L", "winleft": "Super_L", "winright": "Super_R", "super": "Super_L", "meta": "Super_L",
    "command": "Super_L", "cmd": "Super_L", "hyper": "Hyper_L",
    "capslock": "Caps_Lock", "numlock": "Num_Lock", "scrolllock": "Scroll_Lock",
    "printscreen": "Print", "prntscrn": "Print", "prtsc": "Print", "prtscr": "Print", "print": "Print",
    "pause": "Pause", "apps": "Menu", "menu": "Menu", "help": "Help", "select": "Select", "execute": "Execute",
    "clear": "Clear", "add": "KP_Add", "subtract": "KP_Subtract", "multiply": "KP_Multiply", "divide": "KP_Divide",
    "decimal": "KP_Decimal", "separator": "KP_Separator", "browserback": "XF86_Back",
    "browserforward": "XF86_Forward", "browserrefresh": "XF86_Reload", "browserhome": "XF86_HomePage",
    "volumeup": "XF86_AudioRaiseVolume", "volumedown": "XF86_AudioLowerVolume", "volumemute": "XF86_AudioMute",
    "playpause": "XF86_AudioPlay", "nexttrack": "XF86_AudioNext", "prevtrack": "XF86_AudioPrev",
    "stop": "XF86_AudioStop",
    **{f"f{n}": f"F{n}" for n in range(1, 36)}, **{f"num{n}": f"KP_{n}" for n in range(10)},
}  # fmt: skip
_CONTROL = {"\n": "Return", "\r": "Return", "\t": "Tab", "\b": "BackSpace", "\x1b": "Escape", "\x7f": "Delete"}
_UNICODE = 0x01000000


class KeyNameError(ValueError):
    """There is no such key."""


def keysym(name: str) -> int:
    """The symbol of a key by its name, or of a character.

    Raises:
        KeyNameError: if there is none.
    """
    known = _CONTROL.get(name) or _NAMES.get(name.lower() if len(name) > 1 else name)
    if known is not None:
        return int(XK.string_to_keysym(known))
    if len(name) != 1:
        raise KeyNameError(f"there is no key {name!r}")
    code = ord(name)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
        raise KeyNameError(f"there is no key for {name!r}")
    return code if code < 0x100 else _UNICODE | code
