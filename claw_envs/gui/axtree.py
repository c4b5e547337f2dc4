"""The accessibility tree as text: a line an element, indented as it nests, within a number of characters.

    [3] form "Order"
      [4] textbox "Name" = "Ann" (120,80,200,24) focused
      [5] button "Add to cart" (120,120,90,32)

The box is x, y, width, height in the coordinates that the agent uses. What a page calls its elements never looks like
another line: names are one line, and stand in quotes with JSON's escapes, and a role that is no word is `generic`.
Which elements there are is a screen's business.
"""

import json
import math
import re
from collections.abc import Sequence

from claw_envs.gui.actions.frame import Frame
from claw_envs.gui.screen import Element

OFFSCREEN = "offscreen"
_MATTERS = ("main", "dialog", "alertdialog")
LONGEST = 300
"""Characters of one name or value."""
_BREAKS = re.compile("[\x0b\x0c\x1c-\x1e\x7f-\x9f\u2028\u2029]")  # what JSON leaves as it is, and ends a line or hides
_ROLE = re.compile(r"[a-zA-Z][a-zA-Z _-]{0,39}")


def tree_text(elements: Sequence[Element], frame: Frame, *, max_characters: int) -> str:
    """`elements` as lines.

    What is over `max_characters` is left out: first what is off the screen, then what is outside of `main` and of
    dialogs where there is a `main`, then what stands last. The focused element stays. A line at the end counts
    the rest.
    """
    lines = [_line(element, frame) for element in elements]
    off = [OFFSCREEN in element.states for element in elements]
    aside = _aside(elements)
    ranks = [("focused" not in each.states, off[i], aside[i]) for i, each in enumerate(elements)]
    kept = set(_within(lines, ranks, max_characters))
    shown = [line for i, line in enumerate(lines) if i in kept]
    if left := len(lines) - len(kept):
        hidden = sum(off) - sum(off[i] for i in kept)
        how = ": scroll to see more" if hidden else ""
        shown.append(f"[{left} elements left out, {hidden} of them off the screen{how}]")
    return "\n".join(shown)


def _aside(elements: Sequence[Element]) -> list[bool]:
    """Which elements are beside the matter: outside of `main` and of dialogs; none where there is no `main`."""
    if all(element.role != "main" for element in elements):
        return [False] * len(elements)
    aside, within = [], math.inf  # the depth of the part that we are in
    for element in elements:
        if element.depth <= within:
            within = element.depth if element.role in _MATTERS else math.inf
        aside.append(within == math.inf)
    return aside


def _within(lines: Sequence[str], ranks: Sequence[tuple[bool, ...]], most: int) -> list[int]:
    """Which lines fit: by their ranks, and of one rank in order."""
    kept: list[int] = []
    for i in sorted(range(len(lines)), key=lambda i: ranks[i]):
        most -= len(lines[i]) + 1
        if most < 0:
            break
        kept.append(i)
    return kept


def _line(element: Element, frame: Frame) -> str:
    role = element.role if _ROLE.fullmatch(element.role) else "generic"
    parts = [f"{'  ' * element.depth}[{element.id}] {role}"]
    if element.name:
        parts.append(quoted(" ".join(element.name.split())))
    if element.value:
        parts.append(f"= {quoted(element.value)}")
    if element.box is not None:
        parts.append("({},{},{},{})".format(*frame.shown_box(element.box)))
    return " ".join([*parts, *element.states])


def quoted(text: str) -> str:
    """`text` in quotes, on one line, without its end where it is very long."""
    clipped = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(clipped, ensure_ascii=False))
