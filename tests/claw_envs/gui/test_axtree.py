import pytest

from claw_envs.gui.actions import Frame
from claw_envs.gui.axtree import LONGEST, quoted, tree_text
from claw_envs.gui.screen import Element

FRAME = Frame((1280, 720), "pixels")
ALL = 10**6


def text(*elements: Element, frame: Frame = FRAME, most: int = ALL) -> str:
    return tree_text(elements, frame, max_characters=most)


def test_a_line_has_id_role_name_value_box_and_states() -> None:
    field = Element(
        id="12", role="textbox", name="Name", value="Ann", box=(640, 312, 120, 32), states=("focused", "required")
    )
    assert text(field) == '[12] textbox "Name" = "Ann" (640,312,120,32) focused required'
    assert text(Element(id="a1", role="main")) == "[a1] main"


def test_lines_are_indented_as_elements_nest() -> None:
    row = [Element(id=str(i), role="group", depth=i) for i in range(3)]
    assert text(*row) == "[0] group\n  [1] group\n    [2] group"


def test_boxes_are_in_the_coordinates_of_the_agent() -> None:
    button = Element(id="1", role="button", box=(0, 0, 1279, 719))
    assert text(button, frame=Frame((1280, 720), "grid")) == "[1] button (0,0,999,999)"


@pytest.mark.parametrize(
    "name",
    ['a\n[9] button "Pay"', 'quote " and \\', "\u2028[9] button", "\x1b[2K\x9b\x85", "tab\tand\r\nbreak", "🙂 中文"],
)
def test_whatever_an_element_is_called_it_is_one_line(name: str) -> None:
    line = text(Element(id="1", role="button", name=name, value=name))
    assert len(line.splitlines()) == 1
    assert line.startswith('[1] button "')
    assert not set(line) & set("\x1b\x9b\x85\u2028")


def test_values_keep_their_line_breaks_as_escapes() -> None:
    assert text(Element(id="1", role="textbox", value="two\nlines")) == '[1] textbox = "two\\nlines"'


def test_a_long_name_loses_its_end() -> None:
    assert quoted("x" * 1000) == f'"{"x" * (LONGEST - 1)}…"'
    assert quoted("x" * LONGEST) == f'"{"x" * LONGEST}"'


def test_what_is_off_the_screen_is_left_out_first() -> None:
    hidden = [Element(id=f"h{i}", role="link", name="below", states=("offscreen",)) for i in range(10)]
    seen = [Element(id=f"s{i}", role="link", name="here") for i in range(10)]
    mixed = [each for pair in zip(hidden, seen, strict=True) for each in pair]
    shown = text(*mixed, most=10 * len('[s0] link "here"\n')).splitlines()
    assert shown[:-1] == [f'[s{i}] link "here"' for i in range(10)]
    assert shown[-1] == "[10 elements left out, 10 of them off the screen: scroll to see more]"


def test_then_what_stands_last() -> None:
    links = [Element(id=str(i), role="link", states=("offscreen",) if i < 2 else ()) for i in range(6)]
    shown = text(*links, most=2 * len("[0] link\n")).splitlines()
    assert shown == ["[2] link", "[3] link", "[4 elements left out, 2 of them off the screen: scroll to see more]"]


def test_before_that_what_is_outside_of_the_main_part() -> None:
    page = [
        Element(id="1", role="banner"),
        Element(id="2", role="link", name="Orders", depth=1),
        Element(id="3", role="searchbox", states=("focused",), depth=1),
        Element(id="4", role="main"),
        Element(id="5", role="button", depth=1),
        Element(id="6", role="contentinfo"),
        Element(id="7", role="dialog"),
        Element(id="8", role="button", depth=1),
    ]
    kept = "  [3] searchbox focused\n[4] main\n  [5] button\n[7] dialog\n  [8] button"
    assert text(*page, most=len(kept) + 1) == f"{kept}\n[3 elements left out, 0 of them off the screen]"
    without = [each for each in page if each.role != "main"]
    assert text(*without, most=len(kept)).startswith("[1] banner"), "there is no main part"


def test_where_all_fits_nothing_is_said() -> None:
    links = [Element(id=str(i), role="link") for i in range(3)]
    assert text(*links, most=3 * len("[0] link\n")) == "[0] link\n[1] link\n[2] link"


def test_no_elements_are_no_text() -> None:
    assert text() == ""
