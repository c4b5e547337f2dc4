"""The lines of a task's `solution`: one action a line, elements in words.

    click button "Add to cart"                  also `double click`, `right click`, `hover`
    click button "Add" 2                        the second of that name
    click button "Delete" in row "Lamp"         in an element that is called so, or holds one that is
    fill textbox "Search" with "lamp"           replaces what the field holds
    choose combobox "Size" "Large"              several options for a list that takes several
    drag listitem "One" onto listitem "Two"
    scroll down                                 also `up`, `left`, `right`; `scroll down 5 in list "Results"`
    type "text"      press enter      hotkey ctrl s      wait      wait 3
    goto "http://…"  back             forward            reload
    see button "Undo"                           waits until it is there; writes nothing where it is
    done             answer "text"    fail               fail "why"

Texts have JSON's escapes (`"a \\"b\\"\\n"`).
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from claw_envs.core.errors import UserError
from evals.gui.experts.page import Target

_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([^\s"]+))(?=\s|$)')
_CLICKS: dict[str, dict[str, Any]] = {
    "double": {"double": True},
    "right": {"button": "right"},
    "middle": {"button": "middle"},
}
_WAYS = ("down", "up", "right", "left")
_NOTCHES = 3


class Text(str):
    """A quoted text of a line; a bare word is a plain `str`."""


class Line(NamedTuple):
    """One action whose elements are still words."""

    verb: str
    """A tool of `claw_envs.gui.actions.elements`, or `see`."""
    target: Target | None = None
    onto: Target | None = None
    arguments: dict[str, Any] = {}


def read_line(text: str) -> Line:
    """The action of one line.

    Raises:
        UserError: if it is none.
    """
    words = _Words(text)
    verb = words.bare("an action")
    if verb in _CLICKS:
        words.expect("click")
        line = Line("click", words.target(), arguments=_CLICKS[verb])
    elif verb in _VERBS:
        line = _VERBS[verb](words)
    else:
        raise UserError(f"{text!r}: no action {verb!r}; there are: {', '.join([*_VERBS, *_CLICKS])}")
    words.end()
    return line


class _Words:
    """The words of a line, read one after the other."""

    def __init__(self, line: str) -> None:
        self._line, self._tokens, position = line, list[str](), 0
        while position < len(line.rstrip()):
            found = _TOKEN.match(line, position)
            if found is None:
                raise self.wrong(f"cannot be read from {line[position:]!r} on")
            self._tokens.append(Text(json.loads(found[1], strict=False)) if found[1] else found[2])
            position = found.end()

    def wrong(self, why: str) -> UserError:
        return UserError(f"{self._line!r}: {why}")

    @property
    def next(self) -> str | None:
        return self._tokens[0] if self._tokens else None

    def bare(self, what: str) -> str:
        if self.next is None or isinstance(self.next, Text):
            raise self.wrong(f"{what} is missing")
        return self._tokens.pop(0)

    def text(self) -> str:
        if not isinstance(self.next, Text):
            raise self.wrong("a text in quotes is missing")
        return str(self._tokens.pop(0))

    def maybe_text(self) -> str | None:
        return self.text() if isinstance(self.next, Text) else None

    def maybe(self, word: str) -> bool:
        if self.next != word or isinstance(self.next, Text):
            return False
        self._tokens.pop(0)
        return True

    def maybe_number(self) -> int | None:
        if self.next is None or isinstance(self.next, Text) or not self.next.lstrip("-").isdecimal():
            return None
        return int(self._tokens.pop(0))

    def expect(self, word: str) -> None:
        if not self.maybe(word):
            raise self.wrong(f"{word!r} is missing")

    def target(self) -> Target:
        role, name = self.bare("a role"), self.maybe_text()
        nth = self.maybe_number() or 1
        return Target(role, name, nth, self.target() if self.maybe("in") else None)

    def end(self) -> None:
        if self._tokens:
            raise self.wrong(f"there is something after it: {' '.join(self._tokens)}")


def _fill(words: _Words) -> Line:
    target = words.target()
    words.expect("with")
    return Line("fill", target, arguments={"text": words.text()})


def _choose(words: _Words) -> Line:
    role, first = words.bare("a role"), words.text()
    target = Target(role, first, words.maybe_number() or 1, words.target() if words.maybe("in") else None)
    options = [words.text()]
    while (more := words.maybe_text()) is not None:
        options.append(more)
    return Line("choose", target, arguments={"options": options})


def _drag(words: _Words) -> Line:
    target = words.target()
    words.expect("onto")
    return Line("drag", target, words.target())


def _scroll(words: _Words) -> Line:
    way = words.bare("a direction")
    if way not in _WAYS:
        raise words.wrong(f"no direction {way!r}; there are: {', '.join(_WAYS)}")
    amount = words.maybe_number() or _NOTCHES
    place = words.target() if words.maybe("in") else None
    return Line("scroll", place, arguments={"direction": way, "amount": amount})


def _hotkey(words: _Words) -> Line:
    keys = [words.bare("a key")]
    while words.next is not None:
        keys.append(words.bare("a key"))
    return Line("press", arguments={"keys": keys})


def _fail(words: _Words) -> Line:
    return Line("fail", arguments={"reason": words.maybe_text() or ""})


_VERBS: dict[str, Callable[[_Words], Line]] = {
    "click": lambda words: Line("click", words.target()),
    "hover": lambda words: Line("hover", words.target()),
    "fill": _fill,
    "choose": _choose,
    "drag": _drag,
    "scroll": _scroll,
    "type": lambda words: Line("type", arguments={"text": words.text()}),
    "press": lambda words: Line("press", arguments={"keys": [words.bare("a key")]}),
    "hotkey": _hotkey,
    "wait": lambda words: Line("wait", arguments={"seconds": words.maybe_number() or 1}),
    "goto": lambda words: Line("goto", arguments={"url": words.text()}),
    "back": lambda words: Line("back"),
    "forward": lambda words: Line("forward"),
    "reload": lambda words: Line("reload"),
    "see": lambda words: Line("see", words.target()),
    "done": lambda words: Line("done"),
    "fail": _fail,
    "answer": lambda words: Line("answer", arguments={"text": words.text()}),
}
