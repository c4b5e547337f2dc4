"""Where in a message's text calls may stand: `<tool_call>`, `<code>`, fenced blocks. What is in them is read elsewhere.

What a model thought aloud is left out: everything up to the last `</think>`, wherever that stands, and what follows a
`<think>` that begins a line and was never closed. What it made up as the answer to its own call (in `<tool_response>`,
in `<interpreter>`, in a block marked `output`) is passed over. Fenced blocks are those that CommonMark defines, of
backticks.

The time is linear in the length of the text, whatever it holds: a step of one episode must not hold up the others.
"""

import bisect
import json
import re
from collections.abc import Collection
from typing import Literal, NamedTuple

_IMAGINED = ("interpreter", "tool_response")
# no part gives back what it took (`+` after a repeat): a long line would else take quadratic time
_OPENING = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+)[ \t]*+(?P<language>[^`\s]*+)[^`\n]*+$"
    rf"|^[ \t]*+<think>|<(?P<tag>/?tool_call|code|{'|'.join(_IMAGINED)})>",
    re.MULTILINE,
)
_FENCE = re.compile(r"^ {0,3}(`{3,}+)[ \t\r]*$", re.MULTILINE)
_TOOL_CALL = re.compile(r"<tool_call>(.*?)(</tool_call>|\Z)", re.DOTALL)
# the end that JSON in the tag has, whose strings may hold the end tag. Outside of them nothing that JSON knows begins
# with `<` or `\`, so that of all attempts in one text no more than two read the same character
_JSON_CALL = re.compile(r'<tool_call>([^"<\\]*+(?:"(?:[^"\\]++|\\.)*+"[^"<\\]*+)*+)</tool_call>', re.DOTALL)
_CODE = re.compile(r"<code>(?:\r?\n)?(.*?)(</code>|\Z)", re.DOTALL)
_FENCED_INSIDE = re.compile(r"\s*^ {0,3}(?P<fence>`{3,}+)[^`\n]*+\n", re.MULTILINE)
_END_OF_CODE = re.compile(r"\s*</code>")


class Span(NamedTuple):
    """A piece of text that may be a call."""

    kind: Literal["tag", "block", "code", "stray", "thought"]
    """`<tool_call>`; a fenced block; `<code>`; a `</tool_call>` that closes nothing; a `<think>` that is not closed."""
    start: int
    end: int
    """In the text; a tag within a block takes the place of the whole block."""
    content: str = ""
    closed: bool = True
    language: str = ""
    """Of a block, in lower case."""


def spoken(text: str) -> str:
    """`text` without what was thought aloud up to the last `</think>`."""
    return text.rpartition("</think>")[2]


def beside(text: str, spans: Collection[Span]) -> str:
    """`text` without `spans`, which are in order."""
    parts, position = [], 0
    for span in spans:
        parts.append(text[position : span.start])
        position = max(position, span.end)
    return "".join([*parts, text[position:]]).strip()


def scan(text: str, *, languages: Collection[str], code: bool = False) -> list[Span]:
    """What may be a call in `text`, in order.

    Args:
        text: as `spoken` gives it.
        languages: of the blocks that are run: a tag within them is text. Within other blocks it counts.
        code: whether `<code>` is a call.
    """
    fences = _Fences(text)
    last = {tag: text.rfind(f"</{tag}>") for tag in _IMAGINED}
    spans: list[Span] = []
    position = 0
    while found := _OPENING.search(text, position):
        tag = found["tag"]
        position = found.end()
        if found["fence"] is not None:
            spans += _block(text, found, fences, languages)
            position = spans[-1].end
        elif tag is None:
            return [*spans, Span("thought", found.start(), len(text), closed=False)]
        elif tag == "tool_call":
            spans.append(_tool_call(text, found.start()))
            position = spans[-1].end
        elif tag == "code" and code:
            spans.append(_code(text, found, fences))
            position = spans[-1].end
        elif tag == "/tool_call":
            spans.append(Span("stray", found.start(), position))
        elif last.get(tag, 0) > position:
            position = text.index(f"</{tag}>", position)
    return spans


class _Fences:
    """The lines of a text that can close a fenced block."""

    def __init__(self, text: str) -> None:
        self._found = list(_FENCE.finditer(text))
        self._starts = [fence.start() for fence in self._found]
        self._lengths = [len(fence[1]) for fence in self._found]
        self._longer = [len(self._found)] * len(self._found)  # the next that is longer, for each
        waiting: list[int] = []
        for i, length in enumerate(self._lengths):
            while waiting and self._lengths[waiting[-1]] < length:
                self._longer[waiting.pop()] = i
            waiting.append(i)

    def closing(self, opening: str, position: int) -> re.Match[str] | None:
        """The first that closes a block opened by `opening` whose content begins at `position`."""
        i = bisect.bisect_left(self._starts, position)
        while i < len(self._found) and self._lengths[i] < len(opening):
            i = self._longer[i]
        return self._found[i] if i < len(self._found) else None


def _block(text: str, opening: re.Match[str], fences: _Fences, languages: Collection[str]) -> list[Span]:
    start = opening.end() + 1
    end = fences.closing(opening["fence"], start)
    language = opening["language"].lower()
    place = opening.start(), end.end() if end else len(text)
    content = text[start : end.start() if end else len(text)]
    block = Span("block", *place, content, end is not None, language)
    if language in languages or language == "output":
        return [block]
    tags = _tags(content)
    return [Span("tag", *place, tag.content, tag.closed) for tag in tags] or [block]


def _tags(text: str) -> list[Span]:
    spans: list[Span] = []
    position = 0
    while (start := text.find("<tool_call>", position)) >= 0:
        spans.append(_tool_call(text, start))
        position = spans[-1].end
    return spans


def _tool_call(text: str, start: int) -> Span:
    found = _JSON_CALL.match(text, start)
    if found is not None and _is_json(found[1]):
        return Span("tag", start, found.end(), found[1])
    found = _TOOL_CALL.match(text, start)
    assert found is not None
    return Span("tag", start, found.end(), found[1], bool(found[2]))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _code(text: str, opening: re.Match[str], fences: _Fences) -> Span:
    """What stands in `<code>`, which may be a fenced block: the block's end is then looked for first."""
    fenced = _FENCED_INSIDE.match(text, opening.end())
    if fenced is not None:
        closing = fences.closing(fenced["fence"], fenced.end())
        end = closing and _END_OF_CODE.match(text, closing.end())
        if closing and end:
            return Span("code", opening.start(), end.end(), text[fenced.end() : closing.start()])
    found = _CODE.match(text, opening.start())
    assert found is not None
    return Span("code", opening.start(), found.end(), found[1], bool(found[2]))
