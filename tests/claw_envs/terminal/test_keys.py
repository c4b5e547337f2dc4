"""Key names as bytes."""

import pytest

from claw_envs.terminal.keys import encode_keys

KEYS: dict[str, tuple[str | list[str], bytes]] = {
    "enter": ("Enter", b"\r"),
    "several": ("Up Down Right Left", b"\x1b[A\x1b[B\x1b[C\x1b[D"),
    "text and a name": ("ls Space -l Enter", b"ls -l\r"),
    "words of text": ("import time; time.sleep(30)", b"import time; time.sleep(30)"),
    "words of text and a name": (" import  time Enter ", b"import  time\r"),
    "text between names": ("Escape :s/a b/c d/ Enter C-c x y", b"\x1b:s/a b/c d/\r\x03x y"),
    "names within an entry": (["# a b Enter", "Enter", " C-c"], b"# a b Enter\r C-c"),
    "arithmetic within text": ("y = s+1 Enter", b"y = s+1\r"),
    "a name that goes on": ("vim C-notes.txt M-files ^top", b"vim C-notes.txt M-files ^top"),
    "text with blanks in a list": (["echo hi there", "Enter"], b"echo hi there\r"),
    "ctrl": ("C-c C-D C-[ C-_ C-Space C-?", b"\x03\x04\x1b\x1f\x00\x7f"),
    "ctrl with a caret": ("^C ^", b"\x03^"),
    "alt": ("M-x M-Enter M-X", b"\x1bx\x1b\r\x1bX"),
    "both": ("C-M-x M-C-x", b"\x1b\x18\x1b\x18"),
    "function keys": ("F1 F5 F6 F12", b"\x1b[[A\x1b[[E\x1b[17~\x1b[24~"),
    "editing": ("BSpace Delete Home End PageUp PgDn Insert BTab Tab Escape", (
        b"\x7f\x1b[3~\x1b[1~\x1b[4~\x1b[5~\x1b[6~\x1b[2~\x1b[Z\t\x1b"
    )),
    "characters": ("é : q !", "é : q !".encode()),
    "words that look like keys": ("meta-data s-expression C- enter", b"meta-data s-expression C- enter"),
    "any number of modifiers": ("M-" * 50_000 + "x", b"\x1bx"),
}  # fmt: skip


@pytest.mark.parametrize(("keys", "sent"), KEYS.values(), ids=KEYS)
def test_what_keys_send(keys: str | list[str], sent: bytes) -> None:
    assert encode_keys(keys) == sent


@pytest.mark.parametrize(
    "keys", ["", "  ", [], ["", ""], "Ctrl-C", "ctrl+c", "Alt-x", "S-Up", "c-c", "C-Up", "C-1", "C-é"]
)
def test_what_is_no_key_is_explained(keys: str | list[str]) -> None:
    with pytest.raises(ValueError, match=r"no key|name the keys"):
        encode_keys(keys)
