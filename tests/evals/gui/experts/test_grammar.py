"""The lines of a solution."""

import pytest

from claw_envs.core.errors import UserError
from evals.gui.experts.grammar import Line, read_line
from evals.gui.experts.page import Target


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('click button "Add to cart"', Line("click", Target("button", "Add to cart"))),
        ('  click  button  "Add"  2  ', Line("click", Target("button", "Add", 2))),
        ("click button", Line("click", Target("button"))),
        ('double click cell "A1"', Line("click", Target("cell", "A1"), None, {"double": True})),
        ('right click cell "A1"', Line("click", Target("cell", "A1"), None, {"button": "right"})),
        (
            'click button "Delete" -1 in row "Lamp" 2 in table "in"',
            Line("click", Target("button", "Delete", -1, Target("row", "Lamp", 2, Target("table", "in")))),
        ),
        ('hover link "Help"', Line("hover", Target("link", "Help"))),
        (
            'fill textbox "Say \\"hi\\"" with "a\\nb \\u00e9"',
            Line("fill", Target("textbox", 'Say "hi"'), None, {"text": "a\nb é"}),
        ),
        ('fill textbox "with" with ""', Line("fill", Target("textbox", "with"), None, {"text": ""})),
        ('choose combobox "Size" "Large"', Line("choose", Target("combobox", "Size"), None, {"options": ["Large"]})),
        (
            'choose listbox "Size" 2 in form "in" "Large" "Small"',
            Line("choose", Target("listbox", "Size", 2, Target("form", "in")), None, {"options": ["Large", "Small"]}),
        ),
        (
            'drag listitem "One" onto listitem "Two" in list "B"',
            Line("drag", Target("listitem", "One"), Target("listitem", "Two", 1, Target("list", "B"))),
        ),
        ("scroll down", Line("scroll", None, None, {"direction": "down", "amount": 3})),
        (
            'scroll left 5 in list "R"',
            Line("scroll", Target("list", "R"), None, {"direction": "left", "amount": 5}),
        ),
        ('type "a b"', Line("type", None, None, {"text": "a b"})),
        ("press enter", Line("press", None, None, {"keys": ["enter"]})),
        ("hotkey ctrl shift s", Line("press", None, None, {"keys": ["ctrl", "shift", "s"]})),
        ("wait", Line("wait", None, None, {"seconds": 1})),
        ("wait 3", Line("wait", None, None, {"seconds": 3})),
        ('goto "http://a.test/"', Line("goto", None, None, {"url": "http://a.test/"})),
        ("back", Line("back")),
        ('see window "Report"', Line("see", Target("window", "Report"))),
        ("done", Line("done")),
        ("fail", Line("fail", None, None, {"reason": ""})),
        ('fail "there is none"', Line("fail", None, None, {"reason": "there is none"})),
        ('answer "42"', Line("answer", None, None, {"text": "42"})),
    ],
)
def test_each_line_is_one_action(text: str, line: Line) -> None:
    assert read_line(text) == line


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "an action is missing"),
        ('"done"', "an action is missing"),
        ("push button", "no action 'push'; there are: click, hover"),
        ('click "Add"', "a role is missing"),
        ('click button "Add', "cannot be read from"),
        ('click button "Add" please', "there is something after it: please"),
        ('fill textbox "a" "b"', "'with' is missing"),
        ('fill textbox "a" with b', "a text in quotes is missing"),
        ('choose combobox "Size"', "a text in quotes is missing"),
        ("scroll away", "no direction 'away'; there are: down, up, right, left"),
        ("double button", "'click' is missing"),
        ("hotkey", "a key is missing"),
        ("done now", "there is something after it: now"),
    ],
)
def test_a_line_that_cannot_be_read_says_why(text: str, complaint: str) -> None:
    with pytest.raises(UserError) as raised:
        read_line(text)
    assert complaint in str(raised.value)
    assert repr(text) in str(raised.value)
