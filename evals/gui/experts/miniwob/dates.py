"""Pages with a calendar that is opened, and pages that sell flights."""

import re
from datetime import date

from evals.gui.experts.miniwob.calls import box_of, click, click_at, fill, middle, wait
from evals.gui.experts.miniwob.filling import submit
from evals.gui.experts.miniwob.registry import solves
from evals.gui.experts.miniwob.seen import Moves, Part, Seen
from evals.gui.experts.page import Node

_MONTHS = [date(2016, month, 1).strftime("%B") for month in range(1, 13)]


@solves("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(seen: Seen) -> Moves:
    seen = yield [click(seen.one("textbox"))]
    seen = yield from _pick(seen)
    yield [submit(seen)]


@solves("book-flight", "book-flight-nodelay")
def book_flight(seen: Seen) -> Moves:
    wish, start, end = seen.asked(r"the (\w+) one-way flight from: (.*) to: (.*) on ")
    for index, place in enumerate((start, end)):
        seen = yield [fill(seen.one(None, ("From:", "To:")[index]), place), wait(0.5)]
        seen = yield [click(_suggestion(seen, place))]
    seen = yield [click(_date_field(seen))]
    seen = yield from _pick(seen)
    seen = yield [click(seen.one("button", "Search"))]
    yield [click(_ticket(seen, wish))]


@solves("buy-ticket")
def buy_ticket(seen: Seen) -> Moves:
    (wish,) = seen.asked("the ticket with the (.*)[.]")
    yield [click(_ticket(seen, wish))]


def _pick(seen: Seen) -> Part:
    """Turns back to the request's month in an open calendar, and clicks the day; ends with what is seen then."""
    month, day = map(int, seen.asked(r"(\d\d)/(\d\d)/2016"))
    title = seen.first(lambda node: node.name.partition(" ")[0] in _MONTHS)
    turns = _MONTHS.index(title.name.partition(" ")[0]) + 1 - month
    if turns:
        left, _, width, _ = box_of(seen.one("columnheader"))
        seen = yield [click_at((left + width // 2, middle(title)[1]))] * turns  # the arrow has no place in the text
    days = [node for node in seen.matching(str(day)) if node.role == "link"]
    return (yield [click(days[-1]), wait(0.5)])


def _suggestion(seen: Seen, place: str) -> Node:
    """The line of the list under a field that names a city or, in brackets, its airport."""
    text = seen.first(lambda node: node.role == "text" and (f"({place})" in node.name or f"{place} (" in node.name))
    return seen.nodes[seen.nodes.index(text) - 1]


def _date_field(seen: Seen) -> Node:
    return seen.one("textbox", nth=-1)


def _ticket(seen: Seen, wish: str) -> Node:
    buttons = seen.matching(r"Book .*\$\d+")
    prices = [int(button.name.partition("$")[2]) for button in buttons]
    spans = [re.fullmatch(r"(\d+)h (\d+)m", node.name) for node in seen.nodes]
    minutes = [int(span[1]) * 60 + int(span[2]) for span in spans if span]
    values = minutes if "shortest" in wish or "longest" in wish else prices
    best = max(values) if "longest" in wish or "expensive" in wish else min(values)
    return buttons[values.index(best)]
