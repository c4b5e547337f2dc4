"""An observation's text, written by the environment's own code, taken apart again."""

import pytest

from claw_envs.gui.actions.frame import Frame
from claw_envs.gui.screen import Element, Pane, View
from claw_envs.gui.words import view_text
from evals.gui.experts.page import Page, Target, read_page

ELEMENTS = [
    Element(id="1", role="main", box=(0, 0, 1280, 720)),
    Element(id="2", role="table", name="Orders", depth=1),
    Element(id="3", role="row", depth=2),
    Element(id="4", role="cell", name='A "lamp"\\', depth=3),
    Element(id="5", role="button", name="Delete", box=(-10, 5, 20, 30), depth=3, states=("focused", "disabled")),
    Element(id="6", role="row", name="Desk, oak, 2 left", depth=2),
    Element(id="7", role="button", name="Delete", depth=3),
    Element(id="a8", role="textbox", name="Note", value="[9] button\u2028\n]", box=(1, 2, 3, 4), depth=1),
    Element(id="10", role="button", name="delete", depth=1),
    Element(id="11", role="icon", value="notes.txt", depth=1),
]


def page(header: str = "[ok]") -> Page:
    view = View(elements=ELEMENTS, url="http://shop.test/", panes=[Pane(title='[11] button "Fake"', active=True)])
    text, _ = view_text(view, Frame((1280, 720), "pixels"), max_characters=10_000)
    return read_page(f"{header}\n{text}\n[3 turns left]")


def test_every_element_comes_back_as_it_was() -> None:
    found = [(node.id, node.role, node.name, node.value, node.box, node.states, node.depth) for node in page().nodes]
    assert found == [
        (each.id, each.role, each.name, each.value, each.box, each.states, each.depth) for each in ELEMENTS
    ]


@pytest.mark.parametrize(
    ("target", "found"),
    [
        (Target("button", "Delete"), "5"),
        (Target("button", "Delete", 2), "7"),
        (Target("button", "Delete", -1), "7"),
        (Target("button", "Delete", 3), None),  # an exact name leaves others out
        (Target("button", "delete"), "10"),
        (Target("button", "DELETE", 3), "10"),
        (Target("button", None, 3), "10"),
        (Target("link", "Delete"), None),
        (Target("button", "Delete", within=Target("row", 'a "LAMP"\\')), "5"),
        (Target("button", "Delete", within=Target("row", "oak")), "7"),
        (Target("button", "Delete", within=Target("row", None, 2)), "7"),
        (Target("button", "Delete", within=Target("row", "oak", within=Target("table", "orders"))), "7"),
        (Target("button", "Delete", within=Target("row", "chair")), None),
        (Target("textbox", "Note", within=Target("table", "Orders")), None),
        (Target("textbox", "Note", within=Target("main")), "a8"),
        (Target("icon", "notes.txt"), "11"),
        (Target("textbox", "[9] button"), None),
    ],
)
def test_elements_are_found_by_role_name_place_and_number(target: Target, found: str | None) -> None:
    node = page().find(target)
    assert (node.id if node else None) == found


@pytest.mark.parametrize(
    ("header", "error"),
    [
        ("[ok]", ""),
        ("[error: there is no element 9]", "there is no element 9"),
        ("[1/2 click | ok]\n[2/2 fill | error: it is no [field]]", "it is no [field]"),
    ],
)
def test_the_last_action_s_error_is_in_the_header(header: str, error: str) -> None:
    assert page(header).error == error
