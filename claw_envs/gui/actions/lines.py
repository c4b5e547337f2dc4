"""Calls as lines of text: `click("12")`, `fill("7", text="two words")`. Read by a small scanner; nothing is evaluated.

Arguments are texts, numbers, True, False, None and flat lists of these, by position or by name. Calls are parted by
line breaks or `;`, and `#` begins a comment. Not covered: expressions, f-strings, nested lists, dictionaries.
"""

import re
from typing import Any, NamedTuple

MOST_CALLS = 50
_MOST_ARGUMENTS = 100
# no part gives back what it took, so that the time is linear in the text
_TOKEN = re.compile(
    r"""(?P<blank>(?:[ \t\r\f]|\\\n)++)
    |(?P<comment>\#[^\n]*+)
    |(?P<break>[\n;]++)
    |(?P<text>[rRuU]?(?:\"\"\"(?:[^\\"]|\\.|"(?!""))*+\"\"\"|'''(?:[^\\']|\\.|'(?!''))*+'''
        |"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'))
    |(?P<number>[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?)
    |(?P<name>[A-Za-z_]\w*+)
    |(?P<mark>[(),=\[\]])""",
    re.VERBOSE | re.DOTALL,
)
_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
_SEEMS = re.compile(r"(?:\s|#[^\n]*+\n)*+([A-Za-z_]\w*+)[ \t]*+\(")


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(\n|.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": ""}
"""Others stand for themselves, with their backslash."""


class Line(NamedTuple):
    """One call."""

    name: str
    positional: list[Any]
    named: dict[str, Any]


def first_name(text: str) -> str | None:
    """The name of the call with which `text` begins; None where it begins with none."""
    found = _SEEMS.match(text)
    return found[1] if found else None


def read_lines(text: str) -> list[Line]:
    """The calls of `text`, in order.

    Raises:
        ValueError: if something else stands there; in words for the agent.
    """
    scanner = _Scanner(text)
    lines: list[Line] = []
    while scanner.skip():
        if len(lines) == MOST_CALLS:
            raise ValueError(f"write at most {MOST_CALLS} calls in one message")
        try:
            lines.append(scanner.call())
        except ValueError as error:
            raise ValueError(f"{error}; in the call {scanner.called[:80]!r}") from None
    return lines


class _Scanner:
    """The tokens of a text, one after the other."""

    def __init__(self, text: str) -> None:
        self._text, self._position, self._begun = text, 0, 0

    @property
    def called(self) -> str:
        """The line on which the last call begins."""
        return self._text[self._begun :].lstrip().partition("\n")[0].rstrip()

    def skip(self) -> bool:
        """Pass over line breaks and comments; whether anything follows."""
        while self._look(inside=False)[0] == "break":
            self._take(inside=False)
        return self._look(inside=False)[0] != "end"

    def call(self) -> Line:
        self._begun = self._position
        kind, name = self._take()
        if kind != "name" or self._take() != ("mark", "("):
            raise ValueError(f"a line holds one call and nothing else, not {self._near()}")
        line = Line(name, [], {})
        while self._look() != ("mark", ")"):
            self._argument(line)
            if self._look() == ("mark", ","):
                self._take()
            elif self._look() != ("mark", ")"):
                raise ValueError(f"there is a comma or a parenthesis missing in {name}(...), at {self._near()}")
        self._take()
        if self._look(inside=False)[0] not in ("break", "end"):
            raise ValueError(f"a line holds one call and nothing else, not {self._near()}")
        return line

    def _argument(self, line: Line) -> None:
        if len(line.positional) + len(line.named) == _MOST_ARGUMENTS:
            raise ValueError(f"{line.name} has too many arguments")
        kind, text = self._look()
        if kind == "name" and text not in _WORDS:
            self._take()
            if self._take() != ("mark", "="):
                raise ValueError(f"texts stand in quotes, unlike {text[:40]!r} in {line.name}(...)")
            line.named[text] = self._value()
        else:
            line.positional.append(self._value())

    def _value(self) -> Any:
        if self._look() != ("mark", "["):
            return self._plain()
        self._take()
        values: list[Any] = []
        while self._look() != ("mark", "]"):
            values.append(self._plain())
            if self._look() == ("mark", ",") and len(values) < _MOST_ARGUMENTS:
                self._take()
            elif self._look() != ("mark", "]"):
                raise ValueError(f"a list is not closed, or too long, at {self._near()}")
        self._take()
        return values

    def _plain(self) -> Any:
        kind, text = self._take()
        if kind == "name" and text in _WORDS:
            return _WORDS[text]
        if kind == "number":
            return float(text) if not text.lstrip("+-").isdigit() or len(text) > 30 else int(text)
        if kind != "text":
            raise ValueError(f"arguments are texts in quotes, numbers and lists, not {self._near()}")
        return _unquoted(text)

    def _near(self) -> str:
        rest = self._text[self._position :].lstrip()
        return repr(rest[:30]) if rest else "the end of the text"

    def _look(self, *, inside: bool = True) -> tuple[str, str]:
        position = self._position
        token = self._take(inside=inside)
        self._position = position
        return token

    def _take(self, *, inside: bool = True) -> tuple[str, str]:
        """The next token.

        Args:
            inside: whether line breaks are passed over.
        """
        while found := _TOKEN.match(self._text, self._position):
            self._position = found.end()
            kind = found.lastgroup or ""
            if kind not in ("blank", "comment") and not (kind == "break" and inside and ";" not in found[0]):
                return kind, found[0]
        return ("end", "") if self._position >= len(self._text) else ("other", self._text[self._position])


def _unquoted(token: str) -> str:
    raw = token[0] in "rR"
    quoted = token if token[0] in "\"'" else token[1:]
    quotes = 3 if quoted.startswith(('"""', "'''")) else 1
    inner = quoted[quotes:-quotes]
    return inner if raw else _ESCAPE.sub(_unescaped, inner)


def _unescaped(found: re.Match[str]) -> str:
    if code := found[1] or found[2]:
        return chr(int(code, 16))
    return _ESCAPED.get(found[3], found[0])
