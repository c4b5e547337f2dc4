"""Keys by their tmux names, as the bytes that the Linux console sends for them.

>>> encode_keys("C-c")
b'\\x03'
>>> encode_keys("import time Enter")
b'import time\\r'
>>> encode_keys(["two words", "Enter"])
b'two words\\r'

Not covered: Shift and Ctrl with keys for which the console has no code of their own.
"""

import re

_CSI = "\x1b["
_NAMED = {
    "Enter": "\r",
    "Return": "\r",
    "Escape": "\x1b",
    "Esc": "\x1b",
    "Space": " ",
    "Tab": "\t",
    "BTab": f"{_CSI}Z",
    "BSpace": "\x7f",
    "Backspace": "\x7f",
    "Up": f"{_CSI}A",
    "Down": f"{_CSI}B",
    "Right": f"{_CSI}C",
    "Left": f"{_CSI}D",
    "Home": f"{_CSI}1~",
    "Insert": f"{_CSI}2~",
    "IC": f"{_CSI}2~",
    "Delete": f"{_CSI}3~",
    "DC": f"{_CSI}3~",
    "End": f"{_CSI}4~",
    **dict.fromkeys(("PageUp", "PgUp", "PPage"), f"{_CSI}5~"),
    **dict.fromkeys(("PageDown", "PgDn", "NPage"), f"{_CSI}6~"),
    **{f"F{n}": f"{_CSI}[{letter}" for n, letter in enumerate("ABCDE", 1)},
    **{f"F{n}": f"{_CSI}{code}~" for n, code in zip(range(6, 13), (17, 18, 19, 20, 21, 23, 24), strict=True)},
}
_MODIFIED = re.compile(r"((?:[CM]-)+|\^)(.+)", re.DOTALL)
_CONTROLS = {" ": "\0", "Space": "\0", "?": "\x7f"}
"""Beside the characters from `@` to `_`, whose control characters lie 64 below them."""
_OTHERWISE_MODIFIED = re.compile(r"(?:ctrl|control|alt|meta|option|cmd|shift|s|c|m)[-+](.+)", re.IGNORECASE)


def encode_keys(keys: str | list[str]) -> bytes:
    """What pressing `keys` sends.

    Args:
        keys: names and text. In a string, a word that is a key's name is that key, and the words from one key to the
            next are typed with the blanks between them. Of a list, an entry that is exactly a key's name is that key,
            and any other is typed as it stands.

    Raises:
        ValueError: if there is none, or a key is written in another way or has no code; it says what would be right.
    """
    parts = _parts(keys) if isinstance(keys, str) else keys
    if not any(parts):
        raise ValueError("`keys` was empty; name the keys to press, as in: Up Enter")
    return "".join(map(_encode, parts)).encode()


def _parts(text: str) -> list[str]:
    """The keys of a string, and between them what is typed."""
    parts: list[str] = []
    start: int | None = None
    for word in re.finditer(r"\S+", text):
        if _key(word[0]) is not None:
            parts.append(word[0])
            start = None
        elif start is None:
            parts.append(word[0])
            start = word.start()
        else:
            parts[-1] = text[start : word.end()]
    return parts


def _encode(part: str) -> str:
    key = _key(part)
    if key is not None:
        return key
    found = _OTHERWISE_MODIFIED.fullmatch(part)
    if found and _may_be_modified(found[1]):
        raise ValueError(f"there is no key {part!r}; write Ctrl as C-c and Alt as M-x")
    return part


def _key(word: str) -> str | None:
    """What the key of that name sends; None where it is no key's name."""
    if word in _NAMED:
        return _NAMED[word]
    found = _MODIFIED.fullmatch(word)
    if found is None or not _may_be_modified(found[2]):
        return None
    modifiers, key = found.groups()
    text = _NAMED.get(key, key) if "C" not in modifiers and modifiers != "^" else _control(key, word)
    return "\x1b" + text if "M" in modifiers else text


def _may_be_modified(key: str) -> bool:
    return len(key) == 1 or key in _NAMED


def _control(key: str, word: str) -> str:
    if key in _CONTROLS:
        return _CONTROLS[key]
    if len(key) == 1 and "@" <= key.upper() <= "_":
        return chr(ord(key.upper()) - 64)
    raise ValueError(f"there is no key {word!r}; Ctrl goes with a letter, as in C-c")
