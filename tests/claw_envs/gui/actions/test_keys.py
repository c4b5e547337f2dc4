"""Names of keys."""

import pytest

from claw_envs.gui.actions.keys import NAMES, key_of, keys_of

KEYS = {
    "enter": "enter",
    "Return": "enter",
    "ENTER": "enter",
    "KP_Enter": "enter",
    "\n": "enter",
    " ": "space",
    "Space": "space",
    "spacebar": "space",
    "\t": "tab",
    "Escape": "esc",
    "Del": "delete",
    "BackSpace": "backspace",
    "ArrowLeft": "left",
    "arrow_left": "left",
    "Left Arrow": "left",
    "Page_Down": "pagedown",
    "page-down": "pagedown",
    "PageUp": "pageup",
    "pgup": "pageup",
    "Prior": "pageup",
    "control": "ctrl",
    "Control_L": "ctrlleft",
    "ControlLeft": "ctrlleft",
    "ControlOrMeta": "ctrl",
    "cmd": "win",
    "Meta": "win",
    "super": "win",
    "Super_L": "winleft",
    "option": "alt",
    "Shift_R": "shiftright",
    "PrtSc": "printscreen",
    "F5": "f5",
    "f24": "f24",
    "KP_7": "num7",
    "numpad7": "num7",
    "plus": "+",
    "minus": "-",
    "a": "a",
    "A": "A",
    "é": "é",
    "+": "+",
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_has_many_names(name: str) -> None:
    assert key_of(name) == KEYS[name]
    assert key_of(KEYS[name]) == KEYS[name]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_its_own_name_is_read_in_any_case(name: str) -> None:
    assert key_of(name) == key_of(name.upper()) == name


@pytest.mark.parametrize("name", ["", "no", "f25", "f0", "ctrlc", "\0", "\x1b", "\ud800", "enterr", "a b", "num10"])
def test_an_unknown_key_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="there is no key"):
        key_of(name)


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ("ctrl+c", ("ctrl", "c")),
        ("Ctrl + Shift + T", ("ctrl", "shift", "t")),
        (["ctrl", "C"], ("ctrl", "c")),
        (["ctrl+shift", "t"], ("ctrl", "shift", "t")),
        ("ctrl++", ("ctrl", "+")),
        ("ctrl+-", ("ctrl", "-")),
        ("ctrl-c", ("ctrl", "c")),
        ("page-down", ("pagedown",)),
        ("ctrl+page-down", ("ctrl", "pagedown")),
        ("+", ("+",)),
        ("-", ("-",)),
        (["+"], ("+",)),
        (" ", ("space",)),
        (["ctrl", " "], ("ctrl", "space")),
        ("A", ("A",)),
        (["down", "down"], ("down", "down")),
    ],
)
def test_combinations(keys: str | list[str], found: tuple[str, ...]) -> None:
    assert keys_of(keys) == found


@pytest.mark.parametrize("keys", ["", [], [""], "ctrl+", "+ctrl", "ctrl+nokey", ["a"] * 21, "a-" * 5000, "a+" * 5000])
def test_what_is_no_combination(keys: str | list[str]) -> None:
    with pytest.raises(ValueError, match="key"):
        keys_of(keys)
