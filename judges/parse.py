r"""Reads a judge's model's reply: the vote in its last line, and the hint next to that vote.

Only the end of the reply counts. Whatever was quoted, echoed or argued before it is ignored, and two different answers
in the last line are no answer.
"""

import re
from collections.abc import Collection

_BOXED = re.compile(r"\\boxed\s*\{\s*([+-]?\d+)\s*\}")
_OPENING, _CLOSING = "[HINT_START]", "[HINT_END]"


def vote(reply: str, *, allowed: Collection[int] = (1, 0, -1)) -> float | None:
    r"""The vote of `reply`, or None where it cannot be read.

    Args:
        reply: the whole text of a judge's model.
        allowed: votes that the question allows.

    >>> vote("The task says \\boxed{1} or \\boxed{-1}.\nThe user thanks: \\boxed{1}")
    1.0
    """
    lines = _lines(reply)
    answers = {int(number) for number in _BOXED.findall(lines[-1])} if lines else set()
    return float(answers.pop()) if len(answers) == 1 and answers <= set(allowed) else None


def hint_vote(reply: str) -> tuple[float | None, str | None]:
    r"""Vote (+1 or -1) and hint of `reply`; no hint with a vote of -1, no vote where the reply cannot be read.

    The hint must stand at the end, the vote in the line just after it or just before it.
    """
    body, closing, after = reply.rpartition(_CLOSING)
    before, opening, hint = body.rpartition(_OPENING)
    if not closing or not opening or len(_lines(after)) > 1:
        return (-1.0, None) if vote(reply) == -1 else (None, None)
    answer = vote(after if _lines(after) else before, allowed=(1, -1))
    text = " ".join(hint.split())
    return (answer, text) if answer == 1 and text else (answer if answer == -1 else None, None)


def _lines(text: str) -> list[str]:
    """Lines that say something; closing rules, brackets and code fences do not."""
    return [line for line in text.splitlines() if any(char.isalnum() for char in line)]
