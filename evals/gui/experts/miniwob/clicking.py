"""Pages where something named is to be clicked, or hovered over."""

from evals.gui.experts.miniwob.calls import Box, Point, box_of, click, click_at, hover, middle, wait
from evals.gui.experts.miniwob.registry import solves
from evals.gui.experts.miniwob.seen import Moves, Seen
from evals.gui.experts.page import Node


@solves("click-test")
def the_button(seen: Seen) -> Moves:
    yield [click(seen.one("button"))]


@solves("click-test-2", "click-test-transfer", "click-button-sequence")
def numbered_buttons(seen: Seen) -> Moves:
    for name in [word.strip(".,") for word in seen.task.split() if word.strip(".,") in ("ONE", "TWO")]:
        button, other = seen.one("button", name), seen.one("button", {"ONE": "TWO", "TWO": "ONE"}[name])
        seen = yield [click_at(_clear_of(button, box_of(other)))]


@solves("click-button", "unicode-test")
def named_button(seen: Seen) -> Moves:
    yield [click(seen.one("button", *seen.asked('the "(.*)" button')))]


@solves("click-dialog")
def close_dialog(seen: Seen) -> Moves:
    yield [click(seen.one("button", "Close"))]


@solves("click-dialog-2")
def dialog_button(seen: Seen) -> Moves:
    (name,) = seen.quoted()
    yield [click(seen.one("button", "Close" if name == "x" else name))]


@solves("click-link")
def link(seen: Seen) -> Moves:
    yield [click(_link(seen))]


@solves("click-tab")
def tab(seen: Seen) -> Moves:
    yield [click(seen.one("tab", *seen.asked(r"(Tab #\d)")))]


@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def link_in_tabs(seen: Seen) -> Moves:
    yield from _link_behind_tabs(seen, pause=0)


@solves("click-collapsible", "click-collapsible-nodelay")
def expand_and_submit(seen: Seen) -> Moves:
    seen = yield [click(seen.one("tab")), wait(0.5)]
    yield [click(seen.one("button", "Submit"))]


@solves("click-collapsible-2", "click-collapsible-2-nodelay")
def link_in_sections(seen: Seen) -> Moves:
    yield from _link_behind_tabs(seen, pause=0.5)


@solves("click-menu")
def nested_menu(seen: Seen) -> Moves:
    *parents, leaf = seen.asked("Select (.*)")[0].split(">")
    for name in parents:
        seen = yield [hover(seen.one("menuitem", name)), wait(0.5)]
    yield [click(seen.one("menuitem", leaf))]


@solves("click-pie", "click-pie-nodelay")
def pie_menu(seen: Seen) -> Moves:
    (name,) = seen.quoted()
    seen = yield [click(seen.one(None, "+")), wait(1.0)]
    yield [click(seen.one(None, name))]


@solves("focus-text")
def focus(seen: Seen) -> Moves:
    yield [click(seen.one("textbox"))]


@solves("focus-text-2")
def focus_one(seen: Seen) -> Moves:
    yield [click(seen.one("textbox", nth=int(seen.asked(r"(\d)\w\w input")[0]) - 1))]


@solves("navigate-tree")
def tree(seen: Seen) -> Moves:
    (name,) = seen.quoted()
    opened: set[str] = set()
    while (found := seen.maybe(None, name)) is None:
        folder = seen.first(lambda node: bool(node.name) and node.id not in opened)
        opened.add(folder.id)
        seen = yield [click(folder)]
    yield [click(found)]


def _link_behind_tabs(seen: Seen, *, pause: float) -> Moves:
    """Opens one after the other until the link is there; each takes its time."""
    for index in range(len(seen.all("tab"))):
        if seen.maybe(None, seen.quoted()[0]) is not None:
            break
        seen = yield [click(seen.one("tab", nth=index)), wait(pause)]
    yield [click(_link(seen))]


def _link(seen: Seen) -> Node:
    return seen.one(None, seen.quoted()[0])


def _clear_of(node: Node, other: Box) -> Point:
    """A point of `node` that `other` does not cover; its middle where there is no matter."""
    x, y, width, height = box_of(node)
    points = [middle(node), *((x + dx, y + dy) for dx in (2, width - 2) for dy in (2, height - 2))]
    left, top, wide, high = other
    return next(((a, b) for a, b in points if not (left <= a < left + wide and top <= b < top + high)), points[0])
