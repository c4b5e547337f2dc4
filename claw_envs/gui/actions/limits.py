"""Bounds of an agent's arguments, whichever words it used; each raises ValueError in words for the agent."""

import math
import unicodedata

from claw_envs.wire.toolset import unsendable

MOST_NOTCHES = 100
"""A longer turn of the wheel is cut to this: models that mean pixels write hundreds."""
MOST_SECONDS = 60.0
"""A longer wait is cut to this."""
MOST_TEXT = 20_000
_MOST_ID = 64


def wheel(notches: float) -> float:
    """How far the wheel is turned."""
    if not math.isfinite(notches):
        raise ValueError("the wheel is turned by a number of notches")
    return float(max(-MOST_NOTCHES, min(MOST_NOTCHES, notches)))


def seconds(value: float) -> float:
    """How long to wait."""
    if not value >= 0 or math.isinf(value):
        raise ValueError(f"a wait takes between 0 and {MOST_SECONDS:g} seconds")
    return float(min(value, MOST_SECONDS))


def text(value: str, *, empty: bool = True) -> str:
    """A text that can be typed; its line breaks become newlines.

    Args:
        empty: whether it may be.
    """
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    if not value and not empty:
        raise ValueError("the text was empty; write it")
    if len(value) > MOST_TEXT:
        raise ValueError(f"the text has {len(value)} characters; at most {MOST_TEXT} are taken at once")
    if unsendable(value) or any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in value):
        raise ValueError("the text holds a control character or half a surrogate pair; send plain text")
    return value


def element_id(value: str | int) -> str:
    """An element's id, with or without the brackets in which the tree shows it."""
    name = str(value).strip().removeprefix("[").removesuffix("]").strip()
    if not name or len(name) > _MOST_ID or not name.isprintable():
        raise ValueError("an element is named by its id, as the tree shows it in brackets")
    return name
