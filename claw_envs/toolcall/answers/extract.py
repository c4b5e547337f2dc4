"""Where a response's final answer stands: in a box, after a marker such as "Answer:", or in a short plain reply.

Every step is linear in the response, whatever is in it. What the answer means is not looked at here.
"""

import re
from collections import deque
from typing import Literal

Reading = Literal["math", "text"]
"""How a plain reply without box or marker is read: its last formula or number, or as it is."""

_BOX_TOKEN = re.compile(r"\\(?:boxed|fbox)(?![a-zA-Z])[ \t\n]*|\\.|[{}]", re.DOTALL)
_UNBRACED = re.compile(r"[^\s$\\{}]+|\\[a-zA-Z]+[^\s$]*")
_MARKER = re.compile(
    r"\banswer\b[*_ \t]{0,8}(?:is\b|:|=|：)[*_: \t]{0,8}|\bfinal answer\b[*_ \t]{0,8}$|^#### ?",
    re.IGNORECASE | re.MULTILINE,
)
_FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$]+)\$|\\\(((?:[^\\]|\\(?![()]))+)\\\)|\\\[((?:[^\\]|\\(?![\[\]]))+)\\\]")
_NUMBER = re.compile(r"(?<![\w.])[-+−]?\$?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?:/\d+)?%?")
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)
_REASON = re.compile(r"\.\s|(?<=\S)\s+(?:because|since|as|which|where|so)\b")
_WORDS = re.compile(r"[A-Za-z]{2,} +[A-Za-z]{2,}")
_MARKDOWN = " \t\n*_`"


def final_answer(response: str, *, strict: bool = False, reading: Reading = "math") -> str | None:
    r"""The final answer in `response`; None where there is none.

    The last balanced `\boxed{...}` (or `\fbox`) counts; else what follows the last marker ("Answer:", "the answer is",
    "####", "Final answer"); else a plain reply. What was thought aloud, up to `</think>`, is not read.

    Args:
        strict: only a box counts.
        reading: of a plain reply.
    """
    said = _said(response)
    box = last_box(said)
    if box is not None or strict:
        return box
    marked = _after_marker(said)
    if marked is not None:
        return _formulas(marked) if reading == "math" else marked
    return _plain(said, reading) or None


def final_json(response: str, *, strict: bool = False) -> str | None:
    """As `final_answer` for JSON, which may also be the whole reply or its last fenced block."""
    said = _said(response).strip("$ \n\t")
    box = last_box(said)
    if box is not None or strict:
        return box
    if said.startswith(("{", "[")):
        return said
    blocks: list[str] = _FENCED.findall(said)
    if blocks:
        return blocks[-1].strip()
    answer = final_answer(said, reading="text")
    return answer.strip("$ ") if answer else None


def last_box(text: str) -> str | None:
    r"""What is in the last balanced `\boxed{...}` of `text`, without white space around it."""
    found: tuple[int, int | None] | None = None
    opened: list[int | None] = []
    box_at = -1
    for token in _BOX_TOKEN.finditer(text):
        if token[0].startswith(("\\boxed", "\\fbox")):
            box_at = token.end()
            if not text.startswith(("{", "\\boxed", "\\fbox"), box_at):
                found = (box_at, None)
        elif token[0] == "{":
            opened.append(token.end() if token.start() == box_at else None)
        elif token[0] == "}" and opened:
            start = opened.pop()
            if start is not None:
                found = (start, token.start())
    if found is None:
        return None
    start, end = found
    if end is None:
        bare = _UNBRACED.match(text, start)
        return bare[0].rstrip(".,;:") if bare else None
    return text[start:end].strip()


def _said(response: str) -> str:
    """`response` without what was thought aloud."""
    return response.rpartition("</think>")[2].partition("<think>")[0]


def _after_marker(text: str) -> str | None:
    """The sentence after the last marker that something follows, or the next line where the marker ends its own."""
    for marker in reversed(list(_MARKER.finditer(text))):
        rest = text[marker.end() :].lstrip(_MARKDOWN + ":")
        if rest:
            line = rest.partition("\n")[0]
            if line.startswith(("$$", "\\[")):
                line = rest.replace("\n", " ")
            return _tidy(line)
    return None


def _plain(text: str, reading: Reading) -> str:
    """A reply without box or marker: as it is where it is short, else its last formula or number."""
    whole = text.strip(_MARKDOWN)
    if reading == "text" or ("\n" not in whole and len(whole) <= 200 and not _WORDS.search(whole)):
        return _tidy(whole) if reading == "math" else whole
    ends = [found for pattern in (_FORMULA, _NUMBER) for found in [_last(pattern, whole)] if found]
    if not ends:
        return _tidy(whole) if len(whole) <= 200 else ""
    last = max(ends, key=lambda match: match.end())
    return next(group for group in (*last.groups(), last[0]) if group)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def _formulas(sentence: str) -> str:
    """The formulas of a sentence, up to its reason, with a comma between; all of it where it has none."""
    reason = _REASON.search(sentence)
    claim = sentence[: reason.start()] if reason else sentence
    formulas = [next(group for group in found.groups() if group) for found in _FORMULA.finditer(claim)]
    return ", ".join(formula.strip() for formula in formulas) or _tidy(claim)


def _tidy(text: str) -> str:
    return text.strip(_MARKDOWN).rstrip(".,。").strip(_MARKDOWN)
