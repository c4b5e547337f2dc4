"""What a step on a screen did: which acts it asked for and where, and whether anything changed by them.

Two screens are the same where the accessibility tree, the address, the titles and the focus are, and the pictures too,
but for a caret that blinks and, away from where the agent acted, for a spot as small as the digits of a clock. Where
there is no tree, a caret is let pass only away from there as well. Where there is no picture nothing is decided.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.episode import Observation, Turn, content_of
from claw_envs.gui import acts
from claw_envs.gui.actions import Frame, parse
from claw_envs.gui.actions.prompts import coordinates_of
from claw_envs.wire.calls import Malformed

CARET, CLOCK = (4, 48), (64, 24)
"""Width and height in pixels of what either may change."""
NEAR = 50
"""Pixels around where the agent acted in which every change is its own."""
_LEVEL = 10
"""Of 255: what a pixel's colours differ by at most where it is the same."""
_SIZE = (1280, 720)
_WRONG = re.compile(r"\[(?:(?:\d+/\d+ \w+ \| )?error: .*|\d+/\d+ malformed \| not run)\]")
_HEADER = re.compile(r"\[(?:ok|error: .*|not run|\d+/\d+ \w+ \| .*)\]")
_FACT = re.compile(r"^(?:URL|Title|Tabs|Windows|Focused): .*$", re.MULTILINE)
_NOTE = re.compile(r"^Note: ", re.MULTILINE)
_BOX = re.compile(r"\((-?\d+),(-?\d+),(\d+),(\d+)\)[^\"]*$")
_HELD = acts.ButtonDown | acts.ButtonUp | acts.KeyDown | acts.KeyUp
_WITHOUT_TRACE = acts.Move | acts.HoverElement | acts.Wait | acts.Reload | _HELD
"""Acts that may leave everything as it was. So may a shortcut that copies or saves, and any code."""
_SHORTCUTS = {"ctrl", "ctrlleft", "ctrlright", "alt", "altleft", "altright", "win", "winleft", "winright"}


class Look(NamedTuple):
    """A step, and what could be seen before it."""

    turn: Turn
    before: Observation | None
    """None where nobody kept it."""

    @property
    def frame(self) -> Frame:
        """The screen, and what the agent's coordinates mean, by what its system prompt says."""
        seen = self.before.screenshot if self.before is not None else None
        size = _SIZE if seen is None else (seen.shape[1], seen.shape[0])
        said = "".join(content_of(message) for message in self.turn.messages if message.get("role") == "system")
        return Frame(size, coordinates_of(said))

    @property
    def asked(self) -> list[acts.Act]:
        """What the message asks for, where it could be read."""
        frame = self.frame
        message = {"content": self.turn.response, "tool_calls": self.turn.tool_calls}
        calls = parse(message, size=frame.size, coordinates=frame.coordinates, takes_code=True)
        return [call.act for call in calls if not isinstance(call.act, Malformed)]

    @property
    def points(self) -> list[tuple[int, int]]:
        """Where on the screen it acted, in pixels; of elements their middle."""
        return [point for act in self.asked for point in _points(act, self)]


def look_at(turn: Turn, history: Sequence[Turn]) -> Look:
    """`turn`, with what the last of `history` left, or with what there was at the beginning."""
    return Look(turn, turn.opening or (history[-1].observation if history else None))


def headers(observation: Observation) -> str:
    """What became of each call, without what could be seen then."""
    first, *rest = observation.text.split("\n")
    if first == "[not run]":
        return observation.text
    return "\n".join([first, *(line for line in rest if _HEADER.fullmatch(line))])


def fault(look: Look) -> str | None:
    """What was wrong with the step, in a sentence: it could not be read, it failed, or it changed nothing.

    None where nothing was, and where that cannot be told.
    """
    after = look.turn.observation
    if after is None:
        return None
    if after.role == "environment":
        return "The message could not be read."
    if wrong := [line for line in headers(after).split("\n") if _WRONG.fullmatch(line)]:
        return f"An action was not carried out: {wrong[0]}"
    if look.before is None or not any(map(_leaves_a_trace, look.asked)):
        return None
    if any(isinstance(act, acts.Ending) for act in look.asked):
        return None
    return _sameness(look, look.before, after)


def _sameness(look: Look, before: Observation, after: Observation) -> str | None:
    """That two screens are the same, in a sentence; None where they are not, or where that cannot be told."""
    if before.screenshot is None or after.screenshot is None or before.axtree != after.axtree:
        return None
    if _NOTE.search(after.text) or _FACT.findall(before.text) != _FACT.findall(after.text):
        return None
    if not same(before.screenshot, after.screenshot, points=look.points, caret=after.axtree is not None):
        return None
    what = "the screenshot" if after.axtree is None else "the screenshot and the accessibility tree"
    return f"The action changed nothing: {what} stayed the same."


def same(
    before: NDArray[np.uint8], after: NDArray[np.uint8], *, points: Sequence[tuple[int, int]], caret: bool
) -> bool:
    """Whether two screenshots show the same, but for a caret and a clock.

    Args:
        points: where the agent acted.
        caret: whether a caret may have come or gone near them.
    """
    if before.shape != after.shape:
        return False
    differs = np.abs(before.astype(np.int16) - after.astype(np.int16)).max(axis=-1) > _LEVEL
    rows, columns = np.nonzero(differs)
    if not len(rows):
        return True
    away = all(((columns - x) ** 2 + (rows - y) ** 2).min() > NEAR**2 for x, y in points)
    width, height = int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1
    if width <= CARET[0] and height <= CARET[1]:
        return caret or away
    return bool(points) and away and width <= CLOCK[0] and height <= CLOCK[1]


def _leaves_a_trace(act: acts.Act) -> bool:
    match act:
        case acts.Hotkey(keys=keys):
            return not _SHORTCUTS.intersection(keys)
        case acts.Code():
            return False
    return not isinstance(act, _WITHOUT_TRACE | acts.Ending)


def _points(act: acts.Act, look: Look) -> Iterator[tuple[int, int]]:
    match act:
        case acts.Drag(x=x, y=y, from_x=from_x, from_y=from_y):
            if from_x is not None and from_y is not None:
                yield from_x, from_y
            yield x, y
        case acts.Move(x=x, y=y) | acts.Click(x=int(x), y=int(y)) | acts.Scroll(x=int(x), y=int(y)):
            yield x, y
        case acts.DragElement(id=element, onto=onto):
            yield from _middle(element, look)
            yield from _middle(onto, look)
        case acts.ClickElement() | acts.HoverElement() | acts.Fill() | acts.Choose() | acts.ScrollElement():
            yield from _middle(act.id, look)


def _middle(element: str, look: Look) -> Iterator[tuple[int, int]]:
    """Of an element's box in the tree that the agent saw; nothing where it has none, or none on the screen."""
    tree = look.before.axtree if look.before is not None else None
    for line in (tree or "").splitlines():
        if line.lstrip().startswith(f"[{element}] ") and (found := _BOX.search(line)):
            x, y, width, height = map(int, found.groups())
            last_x, last_y = look.frame.last
            if 0 <= x + width // 2 <= last_x and 0 <= y + height // 2 <= last_y:
                yield look.frame.point(x + width // 2, y + height // 2)
