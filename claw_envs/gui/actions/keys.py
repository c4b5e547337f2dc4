"""Keys by the names that models give them, as `claw_envs.gui.acts` has them.

>>> keys_of("ctrl+shift+T")
('ctrl', 'shift', 't')
>>> keys_of(["Control_L", "Page_Down"])
('ctrlleft', 'pagedown')

Not covered: keys that no ordinary keyboard has (IME, launchers).
"""

import re
from collections.abc import Sequence

MOST_KEYS = 20
"""Of one call."""

_NAMED = (
    "enter", "tab", "space", "backspace", "delete", "esc", "up", "down", "left", "right", "home", "end", "pageup",
    "pagedown", "insert", "ctrl", "ctrlleft", "ctrlright", "alt", "altleft", "altright", "shift", "shiftleft",
    "shiftright", "win", "winleft", "winright", "apps", "capslock", "numlock", "scrolllock", "printscreen", "pause",
    "help", "add", "subtract", "multiply", "divide", "decimal", "separator", "volumeup", "volumedown", "volumemute",
    "playpause", "nexttrack", "prevtrack", "stop", "browserback", "browserforward", "browserrefresh", "browserhome",
    "browsersearch", "browserstop", "browserfavorites",
)  # fmt: skip
NAMES = frozenset([*_NAMED, *(f"f{n}" for n in range(1, 25)), *(f"num{n}" for n in range(10))])
"""Every key that has a name; the others are one character."""
_ALIASES = {
    "return": "enter", "kpenter": "enter", "numpadenter": "enter", "newline": "enter", "\n": "enter", "\r": "enter",
    "\t": "tab", "spacebar": "space", "del": "delete", "kpdelete": "delete", "escape": "esc", "ins": "insert",
    "back": "backspace", "bksp": "backspace",
    **{f"{prefix}{key}": key for prefix in ("arrow", "kp") for key in ("up", "down", "left", "right")},
    **{f"{key}arrow": key for key in ("up", "down", "left", "right")},
    "pgup": "pageup", "prior": "pageup", "kppageup": "pageup",
    "pgdn": "pagedown", "pgdown": "pagedown", "next": "pagedown", "kppagedown": "pagedown",
    "kphome": "home", "kpend": "end",
    "control": "ctrl", "ctl": "ctrl", "controlormeta": "ctrl",
    "controll": "ctrlleft", "controlleft": "ctrlleft", "ctrll": "ctrlleft", "leftctrl": "ctrlleft",
    "controlr": "ctrlright", "controlright": "ctrlright", "ctrlr": "ctrlright", "rightctrl": "ctrlright",
    "option": "alt", "opt": "alt", "altl": "altleft", "optionleft": "altleft", "leftalt": "altleft",
    "altr": "altright", "optionright": "altright", "rightalt": "altright", "altgr": "altright",
    "shiftl": "shiftleft", "leftshift": "shiftleft", "shiftr": "shiftright", "rightshift": "shiftright",
    **dict.fromkeys(("command", "cmd", "super", "meta", "windows", "os"), "win"),
    **dict.fromkeys(("superl", "metal", "metaleft", "cmdleft", "commandleft", "leftwin"), "winleft"),
    **dict.fromkeys(("superr", "metar", "metaright", "cmdright", "commandright", "rightwin"), "winright"),
    "menu": "apps", "contextmenu": "apps", "caps": "capslock",
    **dict.fromkeys(("print", "prntscrn", "prtsc", "prtscr", "prtscn", "sysrq"), "printscreen"),
    "break": "pause", "plus": "+", "minus": "-", "comma": ",", "period": ".", "dot": ".", "slash": "/",
    "backslash": "\\", "semicolon": ";", "colon": ":", "equal": "=", "equals": "=", "apostrophe": "'", "grave": "`",
    **{f"{prefix}{n}": f"num{n}" for prefix in ("kp", "numpad") for n in range(10)},
    "kpadd": "add", "kpsubtract": "subtract", "kpmultiply": "multiply", "kpdivide": "divide", "kpdecimal": "decimal",
    "audiovolumeup": "volumeup", "audiovolumedown": "volumedown", "audiovolumemute": "volumemute",
}  # fmt: skip
_FILLING = re.compile(r"[\s_\-]+")


def key_of(name: str) -> str:
    """The one key of that name.

    Raises:
        ValueError: if there is none; in words for the agent.
    """
    if len(name) == 1 and name.isprintable() and name != " ":
        return name
    if name == " ":
        return "space"
    plain = _ALIASES.get(name) or _FILLING.sub("", name.lower())
    plain = _ALIASES.get(plain, plain)
    if plain in NAMES or (len(plain) == 1 and plain.isprintable()):
        return plain
    raise ValueError(f"there is no key {name[:40]!r}; keys are characters and names such as enter, ctrl, pageup or f5")


def keys_of(keys: str | Sequence[str]) -> tuple[str, ...]:
    """The keys of a combination in order: a list of names, or names joined by `+`. Letters among several are small.

    Raises:
        ValueError: if there is none, or one is unknown; in words for the agent.
    """
    names = [name for part in ([keys] if isinstance(keys, str) else keys) for name in _parts(part)]
    if not names:
        raise ValueError('`keys` was empty; name the keys to press, as in ["ctrl", "c"]')
    if len(names) > MOST_KEYS:
        raise ValueError(f"{len(names)} keys are too many for one call; press at most {MOST_KEYS}")
    found = [key_of(name) for name in names]
    return tuple(key.lower() if len(key) == 1 and len(found) > 1 else key for key in found)


def _parts(text: str) -> list[str]:
    """`ctrl++` is ctrl and +; `ctrl-c` is ctrl and c, but `page-down` one key."""
    text = text.strip(" ") or text[:1]
    if len(text) <= 1:
        return [text] if text else []
    if text.endswith("++"):
        text = text[:-1] + "plus"
    parts = text.split("+")
    if len(parts) == 1 and "-" in text and not _known(text):
        parts = text.split("-")
    return [part.strip() for part in parts]


def _known(name: str) -> bool:
    try:
        key_of(name)
    except ValueError:
        return False
    return True
