"""What a tab shows: its elements as `claw_envs.gui.screen.Element`, and what has the focus.

Bounded in elements and in time, as a page may be of any size; of a very large one only what is near the part that is
shown is walked.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from claw_envs.gui.browser.tab import Tab
from claw_envs.gui.browser.worlds import Inner
from claw_envs.gui.screen import Element

MOST_ELEMENTS = 3000
MOST_MILLISECONDS = 3000


class Seen(NamedTuple):
    """What one look into a page gave."""

    elements: Sequence[Element] | None
    full: bool
    """Whether there was more."""
    focused: str
    title: str
    next_id: int
    """The first id that no element has yet."""


async def seen(tab: Tab, *, first_id: int, tree: bool, scale: float = 1.0) -> Seen:
    """Look into the page of a tab.

    Args:
        first_id: new elements get ids from this on, so that no two of an episode share one.
        tree: whether its elements are wanted.
        scale: pixels of the screen that a pixel of the page takes.

    Raises:
        HungError: if the page does not answer.
    """
    limits = {"most": MOST_ELEMENTS, "milliseconds": MOST_MILLISECONDS}
    options = {"first": first_id, "scale": scale, "tree": tree, **limits}
    found = await _walked(tab, options, None)
    focused = found["focused"]
    said = f'[{focused["id"]}] {focused["role"]} "{focused["name"]}"' if focused else ""
    elements = None if found["elements"] is None else [_element(row) for row in found["elements"]]
    return Seen(elements, found["full"], said, found["title"], found["next"])


async def _walked(tab: Tab, options: dict[str, Any], home: Inner | None) -> dict[str, Any]:
    """What `look` finds in a frame, with what is in the frames of other origins within it."""
    found: dict[str, Any] = await tab.call("look", options, frame=home.frame if home else None)
    if home is not None:
        tab.homes.update((row[0], home) for row in found["elements"])
    for foreign in reversed(found["foreign"]):
        inner = await tab.inner(foreign["id"], home)
        if inner is None:
            continue
        at = {"x": foreign["x"], "y": foreign["y"], "clip": foreign["clip"]}
        within = await _walked(tab, {**options, "first": found["next"], "depth": foreign["depth"], "at": at}, inner)
        found["elements"][foreign["index"] : foreign["index"]] = within["elements"]
        found["next"] = within["next"]
        found["full"] |= within["full"]
        if within["focused"] and found["focused"] and found["focused"]["id"] == foreign["id"]:
            found["focused"] = within["focused"]
    return found


def _element(row: list[Any]) -> Element:
    id, role, name, value, box, states, depth = row
    shape = None if box is None else (box[0], box[1], box[2], box[3])
    return Element(id=id, role=role, name=name, value=value, box=shape, states=tuple(states), depth=depth)
