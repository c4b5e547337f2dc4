"""Pages where something is ticked, selected or counted up before it is sent."""

import re

from PIL import ImageColor

from evals.gui.experts.miniwob.calls import box_of, choose, click, click_at, fill, hover, inside, press, wait
from evals.gui.experts.miniwob.filling import submit
from evals.gui.experts.miniwob.registry import solves
from evals.gui.experts.miniwob.seen import Moves, Seen
from evals.gui.experts.page import Node


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def checkboxes(seen: Seen) -> Moves:
    names = seen.asked("Select (.*) and click Submit")[0].split(", ")
    chosen = [] if names == ["nothing"] else [seen.one("checkbox", name) for name in names]
    yield [*map(click, chosen), submit(seen)]


@solves("click-option")
def radio(seen: Seen) -> Moves:
    yield [click(seen.one("radio", *seen.asked("Select (.*) and click"))), submit(seen)]


@solves("choose-list")
def from_a_list(seen: Seen) -> Moves:
    yield [choose(seen.one("combobox"), seen.asked("Select (.*) from the list")), submit(seen)]


@solves("click-scroll-list")
def several_of_a_list(seen: Seen) -> Moves:
    names = seen.asked("Select (.*) from the scroll list")[0].split(", ")
    yield [choose(seen.one("listbox"), names), submit(seen)]


@solves("click-widget")
def widget(seen: Seen) -> Moves:
    (kind,) = seen.quoted()
    role = {"text": "textbox", "textarea": "textbox"}.get(kind, kind)
    fields = seen.all(role)
    if role == "textbox":
        fields.sort(key=lambda field: field.box[3] if field.box else 0, reverse=kind == "textarea")
    yield [click(fields[0])]


@solves("form-sequence-3")
def styled_list(seen: Seen) -> Moves:
    option, button = seen.asked('Choose (.*) from .* labeled "(.*)"')
    seen = yield [click(seen.one("generic"))]
    seen = yield [click(seen.one("listitem", option)), wait(0.5)]
    yield [click(seen.one("button", button))]


@solves("generate-number")
def a_number_that_fits(seen: Seen) -> Moves:
    while not _fits(seen):
        seen = yield [click(seen.one("button", "Generate"))]
    yield [submit(seen)]


@solves("guess-number")
def guess(seen: Seen) -> Moves:
    low, high = 0, 9
    while True:
        number = (low + high) // 2
        seen = yield [fill(seen.one("spinbutton"), str(number)), submit(seen)]
        if any("lower than" in node.name for node in seen.nodes):
            high = number - 1
        else:
            low = number + 1


@solves("odd-or-even")
def odd_or_even(seen: Seen) -> Moves:
    numbers = [int(node.name) for node in seen.matching(r"-?\d+")]
    names = [("Even", "Odd")[number % 2] for number in numbers]
    yield [*(click(seen.one("button", name, nth=row)) for row, name in enumerate(names)), submit(seen)]


@solves("order-food")
def order(seen: Seen) -> Moves:
    if names := re.search("each item: (.*)", seen.task):
        wishes = {name.strip(): 1 for name in names[1].split(",")}
    else:
        count, kind = seen.asked(r"Order (\d) items that are (.*)")
        wishes = {kind: int(count)}
    for item, number in wishes.items():
        seen = yield [hover(_amount(seen, item))]
        seen = yield [click_at(inside(_amount(seen, item), 0.9, 0.5))] * number
    yield [click(seen.one("button", "Order!"))]


@solves("use-spinner")
def spinner(seen: Seen) -> Moves:
    wanted = int(seen.asked(r"Select (-?\d+)")[0])
    seen = yield [click(seen.one("spinbutton"))]
    while (missing := wanted - int(seen.one("spinbutton").value)) != 0:  # a key that is held too long counts twice
        seen = yield [press("up" if missing > 0 else "down")] * abs(missing)
    yield [submit(seen)]


@solves("use-colorwheel")
def color_by_name(seen: Seen) -> Moves:
    red, green, blue = ImageColor.getrgb(seen.asked("Select (.*) with")[0])[:3]
    yield [fill(seen.one("textbox"), f"{red:02X}{green:02X}{blue:02X}"), press("enter"), submit(seen)]


@solves("find-greatest")
def greatest_card(seen: Seen) -> Moves:
    cards = seen.matching(r"\d+", "generic")
    yield [click(max(cards, key=lambda card: int(card.name))), submit(seen)]


@solves("grid-coordinate")
def grid_point(seen: Seen) -> Moves:
    x, y = map(int, seen.asked(r"\((-?\d),(-?\d)\)"))
    circles = seen.matching("circle .*")
    columns = sorted({box_of(circle)[0] for circle in circles})
    rows = sorted({box_of(circle)[1] for circle in circles}, reverse=True)
    place = (columns[x + 2], rows[y + 2])
    yield [click(seen.first(lambda node: node in circles and box_of(node)[:2] == place))]


def _amount(seen: Seen, item: str) -> Node:
    """What stands behind a dish, or behind the first that is marked so: `-`, how many are ordered, and `+`."""
    start = seen.nodes.index(seen.one(None, item))
    (amount, *_) = [node for node in seen.nodes[start:] if re.fullmatch(r"- (\d+ )?\+", node.name)]
    return amount


def _fits(seen: Seen) -> bool:
    numbers = [int(node.name) for node in seen.matching(r"\d+")]
    if not numbers:
        return False
    if limit := re.search(r"(less|greater) than (\d+)", seen.task):
        return numbers[0] < int(limit[2]) if limit[1] == "less" else numbers[0] > int(limit[2])
    return numbers[0] % 2 == ("odd" in seen.task)
