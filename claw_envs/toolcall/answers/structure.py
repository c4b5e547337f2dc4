r"""The structure of an answer: lists, sets, tuples and intervals, unions, ranges, matrices; what is in them is text.

It is taken apart here and not by the parser of LaTeX, for which `(1,2)` is always an interval and a missing bracket is
no difference.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

Same = Callable[[str, str], bool]
"""Whether two texts without structure are the same; the expected one first."""

_MATRIX = re.compile(r"\\begin\{([pbB]?matrix|array)\}(?:\{[lcr|]*\})?(.*)\\end\{\1\}")
_MEMBER = re.compile(r"^[a-zA-Z](?:_\{\w\})?\s?\\in(?![a-zA-Z])\s?")
_NAME = re.compile(r"(?:[a-zA-Z]|\\(?:alpha|beta|gamma|theta|lambda|mu|phi|omega))(?:_\{?\w\}?)?")
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|.", re.DOTALL)
_MAX_DEPTH = 20
_OPENING, _CLOSING = {"(", "[", "{", "\\{", "\\begin"}, {")", "]", "}", "\\}", "\\end"}
_LESS, _MORE = {"<": False, "\\le": True}, {">": False, "\\ge": True}


class Node(NamedTuple):
    """A part of an answer."""

    kind: str
    """leaf, list, set, group, union, range or matrix."""
    text: str
    """Of a leaf; of a group and a range its two brackets; of a matrix its rows' lengths."""
    parts: tuple["Node", ...] = ()
    name: str = ""
    """Of a range, the variable."""


def read(text: str, depth: int = 0) -> Node:
    """What `text` (tidied) is made of; what is nested deeper than `_MAX_DEPTH` is left as it is."""
    if depth > _MAX_DEPTH:
        return Node("leaf", text)
    text = _MEMBER.sub("", text.strip())
    inside = _MATRIX.fullmatch(text)
    if inside and "\\begin" not in inside[2]:
        rows = [_split(row, {"&"}) for row in re.split(r"\\\\(?:\[[^\]]*\])?", inside[2]) if row.strip()]
        return Node(
            "matrix", " ".join(str(len(row)) for row in rows), tuple(read(cell) for row in rows for cell in row)
        )
    for separators, kind in (({",", ";"}, "list"), ({"\\cup"}, "union")):
        parts = [part for part in _split(text, separators) if part]
        if len(parts) > 1:
            if kind == "list" and re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
                break
            return Node(kind, "", tuple(read(part) for part in parts))
    return _enclosed(text) or _either_sign(text) or _range(text) or Node("leaf", text)


def _enclosed(text: str) -> Node | None:
    """A set, a tuple or an interval; brackets around a single value are dropped."""
    if text in ("\\emptyset", "\\{\\}", "\\{ \\}"):
        return Node("set", "")
    tokens = _TOKEN.findall(text)
    if len(tokens) < 3 or tokens[0] not in ("(", "[", "\\{") or _first_closed(tokens) != len(tokens) - 1:
        return None
    opening, closing = tokens[0], tokens[-1]
    if (opening == "\\{") != (closing == "\\}"):
        return None
    inner = "".join(tokens[1:-1])
    parts = tuple(read(part) for part in _split(inner, {",", ";"}))
    if len(parts) == 1:
        return parts[0] if opening + closing != "[)" and opening + closing != "(]" else None
    return Node("set" if opening == "\\{" else "group", opening + closing, parts)


def _either_sign(text: str) -> Node | None:
    if text.count("\\pm") != 1 or "\\mp" in text:
        return None
    name, equals, value = text.rpartition("=")
    return Node("list", "", tuple(read(name + equals + value.replace("\\pm", sign)) for sign in ("+", "-")))


def _range(text: str) -> Node | None:
    """`a < x \\le b` and `x > a`, of a single variable."""
    relations = {**_LESS, **_MORE}
    tokens = _TOKEN.findall(text)
    signs = [token for token in tokens if token in relations]
    sides = _split(text, set(relations))
    if len(signs) + 1 != len(sides) or len(signs) not in (1, 2):
        return None
    if all(sign in _MORE for sign in signs):
        sides, signs = sides[::-1], [{">": "<", "\\ge": "\\le"}[sign] for sign in signs[::-1]]
    if not all(sign in _LESS for sign in signs):
        return None
    closed = [_LESS[sign] for sign in signs]
    if len(signs) == 1:
        if _NAME.fullmatch(sides[0]):
            sides, closed = ["-\\infty", *sides], [False, *closed]
        elif _NAME.fullmatch(sides[1]):
            sides, closed = [*sides, "\\infty"], [*closed, False]
        else:
            return None
    low, name, high = sides
    if not _NAME.fullmatch(name) or _NAME.fullmatch(low) or _NAME.fullmatch(high):
        return None
    brackets = ("[" if closed[0] else "(") + ("]" if closed[1] else ")")
    return Node("range", brackets, (read(low), read(high)), name)


def _split(text: str, separators: set[str]) -> list[str]:
    """`text` at the `separators` that are in no bracket."""
    parts, depth = [""], 0
    pieces: list[str] = []
    for token in _TOKEN.findall(text):
        if token in separators and depth == 0:
            parts[-1] = "".join(pieces).strip()
            parts.append("")
            pieces = []
            continue
        depth += (token in _OPENING) - (token in _CLOSING)
        pieces.append(token)
    parts[-1] = "".join(pieces).strip()
    return parts


def _first_closed(tokens: list[str]) -> int:
    """Where the bracket that the tokens begin with closes; -1 where it does not."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token in _OPENING) - (token in _CLOSING)
        if depth == 0:
            return place
    return -1


def alike(gold: Node, answer: Node, same: Same) -> bool:
    """Whether two answers have the same structure, and the same in it.

    A set has its elements once; a list, which is written without brackets, as often as they are listed.
    """
    if gold.kind == "set" and answer.kind == "set":
        return _covers(gold.parts, answer.parts, same) and _covers(answer.parts, gold.parts, _turned(same))
    if {gold.kind, answer.kind} <= {"set", "list"} or gold.kind == answer.kind == "union":
        return len(gold.parts) == len(answer.parts) and _matched(gold.parts, answer.parts, same)
    if {gold.kind, answer.kind} == {"union", "list"} and any(
        part.kind == "range" for part in gold.parts + answer.parts
    ):
        return len(gold.parts) == len(answer.parts) and _matched(gold.parts, answer.parts, same)
    if {gold.kind, answer.kind} == {"range", "group"} or gold.kind == answer.kind == "range":
        named = not (gold.name and answer.name) or gold.name == answer.name
        return named and gold.text == answer.text and _in_order(gold.parts, answer.parts, same)
    if gold.kind == answer.kind in ("group", "matrix"):
        return gold.text == answer.text and _in_order(gold.parts, answer.parts, same)
    if gold.kind == answer.kind == "leaf":
        return same(gold.text, answer.text)
    return False


def _in_order(golds: tuple[Node, ...], answers: tuple[Node, ...], same: Same) -> bool:
    return len(golds) == len(answers) and all(alike(g, a, same) for g, a in zip(golds, answers, strict=True))


def _covers(golds: Iterable[Node], answers: tuple[Node, ...], same: Same) -> bool:
    return all(any(alike(gold, answer, same) for answer in answers) for gold in golds)


def _matched(golds: tuple[Node, ...], answers: tuple[Node, ...], same: Same) -> bool:
    left = list(answers)
    for gold in golds:
        found = next((place for place, answer in enumerate(left) if alike(gold, answer, same)), None)
        if found is None:
            return False
        del left[found]
    return True


def _turned(same: Same) -> Same:
    return lambda one, other: same(other, one)
