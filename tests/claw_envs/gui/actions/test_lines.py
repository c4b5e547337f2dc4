"""Calls as lines of text."""

import time
from typing import Any

import pytest

from claw_envs.gui.actions.lines import Line, first_name, read_lines

READ: dict[str, list[tuple[str, list[Any], dict[str, Any]]]] = {
    'click("12")': [("click", ["12"], {})],
    "click('12', button=\"right\")": [("click", ["12"], {"button": "right"})],
    "back()": [("back", [], {})],
    "click(12)\nback()": [("click", [12], {}), ("back", [], {})],
    "back(); forward()\n\n": [("back", [], {}), ("forward", [], {})],
    "# first\nback()  # then\n# last": [("back", [], {})],
    "scroll(-1.5, +2)": [("scroll", [-1.5, 2], {})],
    "wait(.5)": [("wait", [0.5], {})],
    "f(1e3, True, false, None, null)": [("f", [1000.0, True, False, None, None], {})],
    'choose("1", ["a", "b",])': [("choose", ["1", ["a", "b"]], {})],
    "f([])": [("f", [[]], {})],
    'f(\n  "1",\n  x="2",  # a remark\n)': [("f", ["1"], {"x": "2"})],
    r'f("a\"b\\c\n\t\x41\u00e9\d")': [("f", ['a"b\\c\n\tAé\\d'], {})],
    "f(r'a\\n')": [("f", ["a\\n"], {})],
    "f('''a\n'b'\n''', \"\"\"x\"y\"\"\")": [("f", ["a\n'b'\n", 'x"y'], {})],
    "f('a # b; c(d)')": [("f", ["a # b; c(d)"], {})],
    "f ( 'a' )": [("f", ["a"], {})],
    "f(99999999999999999999999999999999999)": [("f", [1e35], {})],
}


@pytest.mark.parametrize("text", READ)
def test_calls_are_read(text: str) -> None:
    assert read_lines(text) == [Line(*line) for line in READ[text]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("click(12", "comma or a parenthesis missing"),
        ("click(12 13)", "comma or a parenthesis missing"),
        ("click('12)", "arguments are texts"),
        ("click(text)", "texts stand in quotes, unlike 'text'"),
        ("click(f'12')", "texts stand in quotes, unlike 'f'"),
        ("click(12) back()", "a line holds one call"),
        ("click(12) + 1", "a line holds one call"),
        ("x = click(12)", "a line holds one call"),
        ("click", "a line holds one call"),
        ("click(a.b)", "texts stand in quotes"),
        ("click(1 + 1)", "comma or a parenthesis missing"),
        ("click([[1]])", "arguments are texts"),
        ("click([1)", "a list is not closed"),
        ("click({'a': 1})", "arguments are texts"),
        ("click(open('x'))", "texts stand in quotes"),
        ("click(1; 2)", "comma or a parenthesis missing"),
        ("click(=1)", "arguments are texts"),
        ("a.b()", "a line holds one call"),
        ("f(1)\n" * 51, "at most 50 calls"),
        ("f(" + "1," * 101 + ")", "too many arguments"),
        ("f([" + "1," * 200 + "])", "too long"),
        ("\ud800", "a line holds one call"),
    ],
)
def test_what_is_wrong_is_said(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_lines(text)


@pytest.mark.parametrize("unit", ["(", "[", "f(", "'", '"', "'''", "#", "\\", "f('", "a=", ";", "\n", "1", "9e", " \t"])
def test_the_time_is_linear_in_the_text(unit: str) -> None:
    text = "f(" + unit * (200_000 // len(unit))
    started = time.process_time()
    with pytest.raises(ValueError, match=r"."):
        read_lines(text)
    assert time.process_time() - started < 5


def test_the_first_name_is_that_of_a_call() -> None:
    assert first_name("\n# a remark\n click ('1')") == "click"
    assert first_name("I click (once)") is None
    assert first_name("click") is None
    assert first_name("") is None
