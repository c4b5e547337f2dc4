"""The visible cells of tables and lists that are too large to be walked, or make their cells only when asked.

A spreadsheet has some thousand million cells. Which are visible is told by the cells in two corners of its box; of
those come the rows and columns up to the last that hold something, and a few more to write into.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from claw_envs.gui.desktop.inside.calls import ACCESSIBLE, COMPONENT, Call, Ref

MOST_CELLS = 1000
_FREE = 2
"""Rows and columns beyond the last that holds something."""
_TABLE, _TEXT = "org.a11y.atspi.Table", "org.a11y.atspi.Text"
_PLACE = ("GetRowAtIndex", "GetColumnAtIndex")
_EDGE = 3
"""Pixels from a box's edge to the points that are looked at."""

Ask = Callable[[Sequence[Call]], list[Any]]


class Cell(NamedTuple):
    """A cell that was asked for."""

    ref: Ref
    """Another one each time, with some applications."""
    key: Ref
    """The same each time."""


def visible_cells(ask: Ask, table: Ref, box: tuple[int, int, int, int], coordinates: int) -> list[Cell]:
    """Those that lie in `box`, row by row.

    Args:
        box: of the table, as its application has it.
        coordinates: of which kind those are.
    """
    x, y, width, height = box
    corners = ((x + _EDGE, y + _EDGE), (x + width - _EDGE, y + height - _EDGE))
    at = [Call(table, COMPONENT, "GetAccessibleAtPoint", "(iiu)", (*corner, coordinates)) for corner in corners]
    first, last = (Ref(*answer[0]) if answer and answer[0][1] else None for answer in ask(at))
    if first is None or first == table:
        return []
    calls = [Call(ref, ACCESSIBLE, "GetIndexInParent") for ref in (first, last or first)]
    begin, end = (answer[0] if answer else -1 for answer in ask(calls))
    places = ask([Call(table, _TABLE, name, "(i)", (n,)) for n in (begin, end) for name in _PLACE])
    if any(answer is None for answer in places):
        return _in_list(ask, table, begin, end)
    top, left, bottom, right = (answer[0] for answer in places)
    return _in_table(ask, table, range(top, bottom + 1), range(left, right + 1))


def _in_table(ask: Ask, table: Ref, rows: range, columns: range) -> list[Cell]:
    places = [(row, column) for row in rows for column in columns][:MOST_CELLS]
    answers = ask([Call(table, _TABLE, "GetAccessibleAt", "(ii)", place) for place in places])
    found = {place: Ref(*answer[0]) for place, answer in zip(places, answers, strict=True) if answer}
    texts = ask([Call(ref, _TEXT, "GetText", "(ii)", (0, 1)) for ref in found.values()])
    full = [place for place, answer in zip(found, texts, strict=True) if answer is None or answer[0]]
    last_row = max((row for row, _ in full), default=rows.start - 1) + _FREE
    last_column = max((column for _, column in full), default=columns.start - 1) + _FREE
    shown = (place for place in found if place[0] <= last_row and place[1] <= last_column)
    return [Cell(found[place], _key(table, place)) for place in shown]


def _in_list(ask: Ask, parent: Ref, first: int, last: int) -> list[Cell]:
    if first < 0:
        return []
    places = range(first, min(max(first, last) + 1, first + MOST_CELLS))
    found = ask([Call(parent, ACCESSIBLE, "GetChildAtIndex", "(i)", (n,)) for n in places])
    return [Cell(Ref(*answer[0]), _key(parent, n)) for n, answer in zip(places, found, strict=True) if answer]


def _key(table: Ref, place: object) -> Ref:
    return Ref(table.bus, f"{table.path}#{place}")
