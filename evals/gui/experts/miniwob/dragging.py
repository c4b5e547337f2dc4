"""Pages where something is dragged, resized, drawn or scrolled."""

import re

from claw_envs.wire import Call
from evals.gui.experts.miniwob.calls import box_of, click, click_at, drag, inside, middle, press, scroll, stroke
from evals.gui.experts.miniwob.filling import submit
from evals.gui.experts.miniwob.registry import solves
from evals.gui.experts.miniwob.seen import Moves, Part, Seen
from evals.gui.experts.page import Node

_CORNERS = ["top left", "top center", "top right", "center left", "center", "center right"]
_CORNERS += ["bottom left", "bottom center", "bottom right"]


@solves("drag-box")
def box_into_box(seen: Seen) -> Moves:
    small, large = seen.one(None, "s"), seen.one(None, "L")
    (x, y), (_, _, _, height) = middle(large), box_of(large)
    yield [drag(middle(small), (x + height * 4 // 3, y + height * 4 // 3)), submit(seen)]


@solves("drag-items")
def item_in_a_list(seen: Seen) -> Moves:
    name, where = seen.asked("Drag (.*) (to the .*|up .*|down .*)[.]")
    items = _items(seen, 5)
    old = [item.name for item in items].index(name)
    places = {"to the top": 0, "to the bottom": 4, "up by one position": old - 1, "down by one position": old + 1}
    new = places[where] if where in places else int(re.sub(r"\D", "", where)) - 1
    yield _over(items[old], items[new], 0, 1 if new > old else -1)


@solves("drag-items-grid")
def item_in_a_grid(seen: Seen) -> Moves:
    name, where = seen.asked("Drag (.*) (to the .*|(?:up|down|left|right) by one)[.]")
    items = _items(seen, 9)
    old = [item.name for item in items].index(name)
    steps = {"up by one": -3, "down by one": 3, "left by one": -1, "right by one": 1}
    new = old + steps[where] if where in steps else _CORNERS.index(where.removeprefix("to the "))
    yield _over(items[old], items[new], 1 if new > old else -1, 0)


@solves("drag-sort-numbers")
def sort_numbers(seen: Seen) -> Moves:
    for place in range(4):
        items = seen.matching(r"-?\d+")
        smallest = min(items[place:], key=lambda item: int(item.name))
        if smallest is not items[place]:
            seen = yield _over(smallest, items[place], 0, -1)
    yield [submit(seen)]


@solves("resize-textarea")
def resize(seen: Seen) -> Moves:
    side, size = seen.asked("the (width|height) is (smaller|larger)")
    x, y, width, height = box_of(seen.one("textbox"))
    corner, by = (x + width - 4, y + height - 4), width // 4 * (1 if size == "larger" else -1)
    end = (corner[0] + by, corner[1]) if side == "width" else (corner[0], corner[1] + by)
    yield [drag(corner, end), submit(seen)]


@solves("scroll-text-2")
def scroll_to_an_end(seen: Seen) -> Moves:
    yield [scroll(seen.one("textbox"), "down" if "bottom" in seen.task else "up", 50), submit(seen)]


@solves("highlight-text")
def select_paragraph(seen: Seen) -> Moves:
    yield [click_at(middle(_paragraphs(seen)[0]), count=3), submit(seen)]


@solves("highlight-text-2")
def select_a_paragraph(seen: Seen) -> Moves:
    place = int(seen.asked(r"the (\d)\w\w paragraph")[0]) - 1
    yield [click_at(middle(_paragraphs(seen)[place]), count=3), submit(seen)]


@solves("use-slider")
def slider(seen: Seen) -> Moves:
    wanted = int(seen.asked(r"Select (-?\d+)")[0])
    seen = yield from _slide(seen, 0, wanted)
    yield [submit(seen)]


@solves("use-slider-2")
def sliders(seen: Seen) -> Moves:
    for index, wanted in enumerate(map(int, re.findall(r"\d+", seen.task))):
        seen = yield from _slide(seen, index, wanted)
    yield [submit(seen)]


@solves("form-sequence")
def slider_and_checkbox(seen: Seen) -> Moves:
    wanted, place = map(int, seen.asked(r"Select (-?\d+) .* the (\d)\w\w checkbox"))
    seen = yield from _slide(seen, 0, wanted)
    yield [click(seen.one("checkbox", nth=place - 1)), submit(seen)]


def _slide(seen: Seen, index: int, wanted: int) -> Part:
    handle = seen.one("generic", nth=index)
    value = int(seen.matching(r"-?\d+")[index].name)
    keys = ["right" if wanted > value else "left"] * abs(wanted - value)
    return (yield [click(handle), *(press(key) for key in keys)])


def _paragraphs(seen: Seen) -> list[Node]:
    return seen.all("text")


def _items(seen: Seen, count: int) -> list[Node]:
    return seen.all("listitem")[:count]


def _over(item: Node, place: Node, right: int, down: int) -> list[Call]:
    """A drag of `item` over the middle of `place` to just beyond it."""
    return stroke([middle(item), middle(place), inside(place, 0.5 + right / 4, 0.5 + down / 4)])
