"""Every form of an agent's message on a screen, and every way to get it wrong."""

import json
import random
import re
import string
import time
from typing import Any

import pytest

from claw_envs.gui import acts
from claw_envs.gui.actions import SPACES, Parsed, Space, parse
from claw_envs.gui.actions.limits import MOST_NOTCHES, MOST_TEXT
from claw_envs.gui.actions.parse import MOST_CODE
from claw_envs.wire.calls import Malformed

SIZE = (1280, 720)


def read(message: Any, **options: Any) -> list[Parsed]:
    return parse(message, size=SIZE, **{"takes_code": True} | options)


def done(message: Any, **options: Any) -> list[Any]:
    """The acts of a message."""
    return [parsed.act for parsed in read(message, **options)]


def problem(message: Any, **options: Any) -> str:
    """What was wrong with a message that asks for one thing."""
    (act,) = done(message, **options)
    assert isinstance(act, Malformed), act
    return act.problem


def example_in(said: str) -> str:
    """What a complaint says would be right."""
    return re.split(r"Write[^:]*: ?", said)[-1]


def tag(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def use(action: str, **arguments: Any) -> str:
    return tag("computer_use", action=action, **arguments)


def native(*calls: tuple[str, Any], content: str = "") -> dict[str, Any]:
    entries = [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": content, "tool_calls": entries}


def fence(text: str, language: str = "") -> str:
    return f"I see it.\n\n```{language}\n{text}\n```\n"


# --- computer_use -------------------------------------------------------------------------------------------------

USED: dict[str, tuple[str, acts.Act]] = {
    "left click": (use("left_click", coordinate=[500, 500]), acts.Click(640, 360)),
    "left click where it is": (use("left_click"), acts.Click()),
    "click with keys": (use("left_click", coordinate=[0, 0], keys=["ctrl"]), acts.Click(0, 0, keys=("ctrl",))),
    "right click": (use("right_click", coordinate=[999, 999]), acts.Click(1279, 719, "right")),
    "middle click": (use("middle_click", coordinate=[0, 0]), acts.Click(0, 0, "middle")),
    "double click": (use("double_click", coordinate=[0, 0]), acts.Click(0, 0, count=2)),
    "triple click": (use("triple_click", coordinate=[0, 0]), acts.Click(0, 0, count=3)),
    "move": (use("mouse_move", coordinate=[0, 999]), acts.Move(0, 719)),
    "drag": (use("left_click_drag", coordinate=[0, 0]), acts.Drag(0, 0)),
    "drag from": (
        use("left_click_drag", start_coordinate=[0, 0], coordinate=[999, 0]),
        acts.Drag(1279, 0, from_x=0, from_y=0),
    ),
    "type": (use("type", text="two\nwords"), acts.Type("two\nwords")),
    "key": (use("key", keys=["ctrl", "C"]), acts.Hotkey(("ctrl", "c"))),
    "key as a text": (use("key", keys="ctrl+c"), acts.Hotkey(("ctrl", "c"))),
    "scroll up": (use("scroll", pixels=3), acts.Scroll(dy=-3.0)),
    "scroll down": (use("scroll", pixels=-3, coordinate=[0, 0]), acts.Scroll(dy=3.0, x=0, y=0)),
    "scroll far": (use("scroll", pixels=-5000), acts.Scroll(dy=float(MOST_NOTCHES))),
    "scroll to the right": (use("hscroll", pixels=3), acts.Scroll(dx=3.0)),
    "wait": (use("wait", time=2.5), acts.Wait(2.5)),
    "wait long": (use("wait", time=1e9), acts.Wait(60.0)),
    "wait a moment": (use("wait"), acts.Wait(1.0)),
    "success": (use("terminate", status="success"), acts.Done()),
    "failure": (use("terminate", status="failure"), acts.Fail()),
    "answer": (use("answer", text="42"), acts.Answer("42")),
    "mouse down": (use("left_mouse_down"), acts.ButtonDown()),
    "mouse up": (use("left_mouse_up"), acts.ButtonUp()),
    "screenshot": (use("screenshot"), acts.Wait(0.0)),
    "nulls": (use("left_click", coordinate=[0, 0], text=None, keys=None, status=None), acts.Click(0, 0)),
    "floats": (use("left_click", coordinate=[0.2, 998.9]), acts.Click(0, 719)),
    "plain click": (use("click", coordinate=[0, 0]), acts.Click(0, 0)),
    "plain drag": (use("drag", start_coordinate=[0, 0], coordinate=[0, 0]), acts.Drag(0, 0, 0, 0)),
    "plain hotkey": (use("hotkey", keys=["alt", "f4"]), acts.Hotkey(("alt", "f4"))),
    "plain done": (use("done"), acts.Done()),
    "plain fail": (use("fail"), acts.Fail()),
    "x and y": (use("left_click", x=999, y=0), acts.Click(1279, 0)),
    "Anthropic's key": (tag("computer", action="key", text="ctrl+s"), acts.Hotkey(("ctrl", "s"))),
    "Anthropic's click": (
        tag("computer", action="left_click", coordinate=[0, 0], text="shift"),
        acts.Click(0, 0, keys=("shift",)),
    ),
    "Anthropic's scroll": (
        tag("computer", action="scroll", coordinate=[0, 0], scroll_direction="down", scroll_amount=3),
        acts.Scroll(dy=3.0, x=0, y=0),
    ),
    "Anthropic's scroll up": (
        tag("computer", action="scroll", scroll_direction="up", scroll_amount=3),
        acts.Scroll(dy=-3.0),
    ),
    "Anthropic's scroll to the left": (
        tag("computer", action="scroll", scroll_direction="left", scroll_amount=3),
        acts.Scroll(dx=-3.0),
    ),
    "Anthropic's wait": (tag("computer", action="wait", duration=2), acts.Wait(2.0)),
    "by its own name": (tag("left_click", coordinate=[0, 0]), acts.Click(0, 0)),
    "click with a point": (tag("click", x=0, y=0), acts.Click(0, 0)),
    "XML": (
        "<tool_call>\n<function=computer_use>\n<parameter=action>\nleft_click\n</parameter>\n<parameter=coordinate>\n"
        '[999, 0]\n</parameter>\n<parameter=keys>\n["ctrl"]\n</parameter>\n</function>\n</tool_call>',
        acts.Click(1279, 0, keys=("ctrl",)),
    ),
    "XML with a text that looks like a list": (
        "<tool_call>\n<function=computer_use>\n<parameter=action>type</parameter>\n<parameter=text>[1, 2]</parameter>\n"
        "</function>\n</tool_call>",
        acts.Type("[1, 2]"),
    ),
    "JSON in a fence": (fence('{"action": "left_click", "coordinate": [0, 0]}', "json"), acts.Click(0, 0)),
    "a call in a fence": (
        fence('{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [0, 0]}}'),
        acts.Click(0, 0),
    ),
    "a tag in a fence": (fence(use("left_click", coordinate=[0, 0]), "json"), acts.Click(0, 0)),
    "a bare call": (
        'Now: {"name": "computer_use", "arguments": {"action": "wait", "time": 1}}',
        acts.Wait(1.0),
    ),
    "after thinking": (f"<think>{use('terminate', status='failure')}</think>{use('click')}", acts.Click()),
}


@pytest.mark.parametrize(("message", "act"), USED.values(), ids=USED)
def test_computer_use(message: str, act: acts.Act) -> None:
    assert done(message) == [act]


def test_pixels_are_pixels() -> None:
    assert done(use("left_click", coordinate=[1279, 719]), coordinates="pixels") == [acts.Click(1279, 719)]
    assert "x is between 0 and 1279" in problem(use("left_click", coordinate=[1280, 0]), coordinates="pixels")


MISUSED = {
    "off the grid": (use("left_click", coordinate=[1000, 5]), "(1000, 5) is not on the screen: x is between 0 and 999"),
    "before the grid": (use("left_click", coordinate=[5, -1]), "y between 0 and 999"),
    "the drag's start off the grid": (
        use("left_click_drag", start_coordinate=[0, 2000], coordinate=[0, 0]),
        "(0, 2000) is not on the screen",
    ),
    "NaN": ('<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [NaN, 1]}}'
            "</tool_call>", "is not on the screen"),
    "infinite": ('<tool_call>{"name": "computer_use", "arguments": {"action": "scroll", "pixels": Infinity}}'
                 "</tool_call>", "number of notches"),
    "a gigantic number": (use("left_click", coordinate=[10**400, 1]), "out of range"),
    "a truth for a number": (use("left_click", coordinate=[True, 1]), "Expected `float`, got `bool`"),
    "a text for a number": (use("left_click", coordinate=["5", 1]), "Expected `float`, got `str`"),
    "one number": (use("left_click", coordinate=[5]), "length >= 2"),
    "three numbers": (use("left_click", coordinate=[5, 5, 5]), "length <= 2"),
    "no point": (use("mouse_move"), "mouse_move needs `coordinate`"),
    "no keys": (use("key"), "key needs `keys`"),
    "empty keys": (use("key", keys=[]), "`keys` was empty"),
    "an unknown key": (use("key", keys=["ctrl", "nokey"]), "there is no key 'nokey'"),
    "no text": (use("type"), "type needs `text`"),
    "an empty text": (use("type", text=""), "the text was empty"),
    "a long text": (use("type", text="a" * (MOST_TEXT + 1)), f"at most {MOST_TEXT}"),
    "a control character": (use("type", text="a\x1b[2J"), "control character"),
    "no way to scroll": (use("scroll"), "scroll needs `pixels`"),
    "keys with the wheel": (use("scroll", pixels=1, keys=["ctrl"]), "keys cannot be held"),
    "a negative wait": (use("wait", time=-1), "between 0 and 60"),
    "no status": (use("terminate"), "terminate needs `status`"),
    "another status": (use("terminate", status="FAIL"), "Invalid enum value 'FAIL'"),
    "no action": (tag("computer_use", coordinate=[1, 1]), "missing required field `action`"),
    "an unknown action": (use("left_clic"), "Invalid enum value 'left_clic'"),
    "an action that is no text": (tag("computer_use", action=5), "Expected `str`"),
    "an unknown argument": (use("left_click", element="12"), "unknown field `element`"),
    "an argument too many": (use("type", text="a", coordinate=[1, 1]), "type takes `text`, not `coordinate`"),
    "an argument where none is": (use("screenshot", text="a"), "screenshot takes nothing more, not `text`"),
    "no such tool": (tag("mouse", action="left_click"), "There is no 'mouse'; there are click"),
    "no JSON": ("<tool_call>{'name': 'computer_use'}</tool_call>", "is not valid JSON"),
    "not closed": ('<tool_call>{"name": "computer_use", "arguments": {}}', "was not closed"),
}  # fmt: skip


@pytest.mark.parametrize(("message", "said"), MISUSED.values(), ids=MISUSED)
def test_computer_use_gone_wrong(message: str, said: str) -> None:
    assert said in problem(message)


@pytest.mark.parametrize("name", [name for name in MISUSED if name != "not closed"])
def test_with_what_was_wrong_comes_a_right_example(name: str) -> None:
    said = problem(MISUSED[name][0])
    (act,) = done(example_in(said))
    assert not isinstance(act, Malformed), said


# --- computer_13 --------------------------------------------------------------------------------------------------

OBJECTS: dict[str, tuple[dict[str, Any], acts.Act]] = {
    "MOVE_TO": ({"x": 999, "y": 0}, acts.Move(1279, 0)),
    "CLICK": ({}, acts.Click()),
    "CLICK there": ({"x": 0, "y": 0}, acts.Click(0, 0)),
    "CLICK thrice": ({"x": 0, "y": 0, "button": "right", "num_clicks": 3}, acts.Click(0, 0, "right", 3)),
    "CLICK with the middle": ({"button": "middle"}, acts.Click(button="middle")),
    "MOUSE_DOWN": ({}, acts.ButtonDown()),
    "MOUSE_UP": ({"button": "right"}, acts.ButtonUp("right")),
    "RIGHT_CLICK": ({"x": 0, "y": 0}, acts.Click(0, 0, "right")),
    "DOUBLE_CLICK": ({}, acts.Click(count=2)),
    "DRAG_TO": ({"x": 0, "y": 999}, acts.Drag(0, 719)),
    "SCROLL": ({"dx": 2, "dy": -3}, acts.Scroll(2.0, 3.0)),
    "SCROLL up": ({"dy": 3}, acts.Scroll(0.0, -3.0)),
    "TYPING": ({"text": "ab"}, acts.Type("ab")),
    "PRESS": ({"key": "Enter"}, acts.Hotkey(("enter",))),
    "KEY_DOWN": ({"key": "shift"}, acts.KeyDown("shift")),
    "KEY_UP": ({"key": "shift"}, acts.KeyUp("shift")),
    "HOTKEY": ({"keys": ["ctrl", "c"]}, acts.Hotkey(("ctrl", "c"))),
    "WAIT": ({}, acts.Wait()),
    "FAIL": ({}, acts.Fail()),
    "DONE": ({}, acts.Done()),
    "ANSWER": ({"text": "42"}, acts.Answer("42")),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_computer_13(name: str) -> None:
    kind = name.split()[0]
    parameters, act = OBJECTS[name]
    flat, nested = {"action_type": kind, **parameters}, {"action_type": kind, "parameters": parameters}
    assert done(json.dumps(flat)) == [act]
    assert done(json.dumps(nested)) == [act]
    assert done(fence(json.dumps(flat), "json")) == [act]
    assert done(fence(json.dumps([flat, flat], indent=2))) == [act, act]
    assert done(f"I do it. {json.dumps(flat)} And then {json.dumps(flat)}") == [act, act]
    assert done(tag("computer_13", **flat)) == [act]
    assert done(tag(kind, **parameters)) == [act]
    assert done(json.dumps({**flat, "action_type": kind.lower()})) == [act]
    assert done(native(("computer_13", json.dumps(nested)))) == [act]


@pytest.mark.parametrize("word", ["WAIT", "DONE", "FAIL"])
def test_words(word: str) -> None:
    act = OBJECTS[word][1]
    for message in (word, f" {word}\n", fence(word), fence(word, "python")):
        assert done(message) == [act]
    assert done(f"<think>hm</think>\n{word}") == [act]
    assert done(fence(f'["{word}"]', "json")) == [act]


@pytest.mark.parametrize(
    "message",
    [
        "This will FAIL",
        "I FAIL.",
        "FAIL!",
        "FAIL\nFAIL",
        "fail",
        "The page says:\nFAIL",
        "<think>FAIL</think>",
        "<tool_response>FAIL</tool_response>",
        "```output\nFAIL\n```",
        "`FAIL`",
        "```\nFAIL",
    ],
)
def test_a_word_in_a_sentence_is_no_ending(message: str) -> None:
    assert isinstance(done(message)[0], Malformed)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"action_type": "MOVE_TO", "x": 1}, "MOVE_TO needs `y`"),
        ({"action_type": "CLICK", "x": 1}, "CLICK takes `x` and `y` together"),
        ({"action_type": "CLICK", "x": 1000, "y": 1}, "x is between 0 and 999"),
        ({"action_type": "CLICK", "num_clicks": 4}, "Invalid enum value 4"),
        ({"action_type": "CLICK", "button": "up"}, "Invalid enum value 'up'"),
        ({"action_type": "CLICK", "text": "a"}, "CLICK takes `button`, `x`, `y`, `num_clicks`, not `text`"),
        ({"action_type": "CLICK", "id": "a"}, "unknown field `id`"),
        ({"action_type": "RIGHT_CLICK", "button": "left"}, "RIGHT_CLICK takes `x`, `y`, not `button`"),
        ({"action_type": "SCROLL"}, "SCROLL needs `dx` or `dy`"),
        ({"action_type": "TYPING"}, "TYPING needs `text`"),
        ({"action_type": "PRESS", "key": "nokey"}, "there is no key 'nokey'"),
        ({"action_type": "PRESS", "key": "ctrl+c"}, "there is no key 'ctrl+c'"),
        ({"action_type": "HOTKEY", "keys": []}, "`keys` was empty"),
        ({"action_type": "tap"}, "Invalid enum value 'tap' - at `$.action_type`; there are MOVE_TO"),
        ({"action_type": "ANSWER"}, "ANSWER needs `text`"),
        ({"action_type": "WAIT", "time": 3}, "unknown field `time`"),
        ({"action_type": None}, "missing required field `action_type`"),
        ({"action_type": ["CLICK"]}, "Expected `str`"),
    ],
)
def test_computer_13_gone_wrong(message: dict[str, Any], said: str) -> None:
    for form in (json.dumps(message), fence(json.dumps(message)), tag("computer_13", **message)):
        assert said in problem(form)
        assert not isinstance(done(example_in(problem(form)))[0], Malformed)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (fence("{not json}", "json"), "is not valid JSON"),
        (fence("[]"), "1 to 50"),
        (fence("[1]"), "An action is an object"),
        (fence('["fail"]'), "An action is an object"),
        (fence('{"x": 1}'), "An action is an object"),
        (fence('{"name": 5}'), "An action is an object"),
        (fence("[" * 50_000), "is not valid JSON"),
        (fence(json.dumps([{"action_type": "WAIT"}] * 51)), "1 to 50"),
        ('I click {"action_type": "CLICK", "x": 1', "is not valid JSON"),
        ('{"action_type": ' * 20_000, "is not valid JSON"),
    ],
)
def test_objects_that_are_none(message: str, said: str) -> None:
    assert said in problem(message)


def test_an_object_of_something_else_is_no_action() -> None:
    assert "no action in the message" in problem('The file holds {"name": "Ann"}.')


# --- elements -----------------------------------------------------------------------------------------------------

CALLED: dict[str, tuple[str, dict[str, Any], acts.Act]] = {
    'click("12")': ("click", {"id": "12"}, acts.ClickElement("12")),
    "click(12)": ("click", {"id": 12}, acts.ClickElement("12")),
    'click("[12]")': ("click", {"id": "[12]"}, acts.ClickElement("12")),
    'click("12", "right")': ("click", {"id": "12", "button": "right"}, acts.ClickElement("12", "right")),
    'click("12", double=True)': ("click", {"id": "12", "double": True}, acts.ClickElement("12", count=2)),
    'click("12", keys="ctrl")': ("click", {"id": "12", "keys": "ctrl"}, acts.ClickElement("12", keys=("ctrl",))),
    'fill("7", "two\\nwords")': ("fill", {"id": "7", "text": "two\nwords"}, acts.Fill("7", "two\nwords")),
    'fill("7", "")': ("fill", {"id": "7", "text": ""}, acts.Fill("7", "")),
    'choose("9", "Large")': ("choose", {"id": "9", "options": "Large"}, acts.Choose("9", ("Large",))),
    'choose("9", ["A", "B"])': ("choose", {"id": "9", "options": ["A", "B"]}, acts.Choose("9", ("A", "B"))),
    'hover("12")': ("hover", {"id": "12"}, acts.HoverElement("12")),
    'drag("12", "15")': ("drag", {"id": "12", "onto": "15"}, acts.DragElement("12", "15")),
    'scroll("down")': ("scroll", {"direction": "down"}, acts.Scroll(0.0, 5.0)),
    'scroll("up", 2)': ("scroll", {"direction": "up", "amount": 2}, acts.Scroll(0.0, -2.0)),
    'scroll("left")': ("scroll", {"direction": "left"}, acts.Scroll(-5.0, 0.0)),
    'scroll("right", id="3")': ("scroll", {"direction": "right", "id": "3"}, acts.ScrollElement("3", 5.0, 0.0)),
    "scroll(0, 300)": ("scroll", {"dx": 0, "dy": 300}, acts.Scroll(0.0, 3.0)),
    'scroll(-50, 0, "3")': ("scroll", {"dx": -50, "id": "3"}, acts.ScrollElement("3", -0.5, 0.0)),
    'press("ctrl+a")': ("press", {"keys": ["ctrl", "a"]}, acts.Hotkey(("ctrl", "a"))),
    'press(["enter"])': ("press", {"keys": "Enter"}, acts.Hotkey(("enter",))),
    'type("ab")': ("type", {"text": "ab"}, acts.Type("ab")),
    'goto("http://shop.test/")': ("goto", {"url": "http://shop.test/"}, acts.Goto("http://shop.test/")),
    "back()": ("back", {}, acts.Back()),
    "forward()": ("forward", {}, acts.Forward()),
    "reload()": ("reload", {}, acts.Reload()),
    "new_tab()": ("new_tab", {}, acts.NewTab()),
    'new_tab("http://a.test")': ("new_tab", {"url": "http://a.test"}, acts.NewTab("http://a.test")),
    "switch_tab(1)": ("switch_tab", {"index": 1}, acts.SwitchTab(1)),
    "close_tab()": ("close_tab", {}, acts.CloseTab()),
    "wait()": ("wait", {}, acts.Wait(1.0)),
    "wait(2.5)": ("wait", {"seconds": 2.5}, acts.Wait(2.5)),
    "done()": ("done", {}, acts.Done()),
    "fail()": ("fail", {}, acts.Fail()),
    'fail("no such thing")': ("fail", {"reason": "no such thing"}, acts.Fail("no such thing")),
    'answer("42")': ("answer", {"text": "42"}, acts.Answer("42")),
    'select_option("9", "A")': ("select_option", {"id": "9", "options": "A"}, acts.Choose("9", ("A",))),
    'send_msg_to_user("42")': ("send_msg_to_user", {"text": "42"}, acts.Answer("42")),
    'report_infeasible("no")': ("report_infeasible", {"reason": "no"}, acts.Fail("no")),
    "go_back()": ("go_back", {}, acts.Back()),
    "tab_focus(0)": ("tab_focus", {"index": 0}, acts.SwitchTab(0)),
}


@pytest.mark.parametrize("line", CALLED)
def test_elements(line: str) -> None:
    name, arguments, act = CALLED[line]
    assert done(line) == [act]
    assert done(fence(line)) == [act]
    assert done(fence(line, "python")) == [act]
    assert done(fence(f"# first\n{line}\n{line}  # again")) == [act, act]
    assert done(tag(name, **arguments)) == [act]
    assert done(native((name, json.dumps(arguments)))) == [act]


def test_elements_in_xml_whose_values_are_texts() -> None:
    xml = "<tool_call><function={}>{}</function></tool_call>"
    parameter = "<parameter={}>{}</parameter>".format
    assert done(xml.format("click", parameter("id", "12") + parameter("double", "true"))) == [
        acts.ClickElement("12", count=2)
    ]
    assert done(xml.format("choose", parameter("id", "012") + parameter("options", '["A", "B"]'))) == [
        acts.Choose("012", ("A", "B"))
    ]
    assert done(xml.format("fill", parameter("id", "1") + parameter("text", "[5]"))) == [acts.Fill("1", "[5]")]
    assert "Expected `int`" in problem(xml.format("switch_tab", parameter("index", "two")))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("click()", "missing required field `id`"),
        ("click(True)", "Expected `int | str`, got `bool`"),
        ('click("")', "named by its id"),
        (f'click("{"1" * 65}")', "named by its id"),
        ('click("12", "up")', "Invalid enum value 'up'"),
        ('click("12", keys="nokey")', "there is no key 'nokey'"),
        ('click("12", bid="12")', "unknown field `bid`"),
        ('click("1", "left", True, "ctrl", 5)', "click takes id, button, double, keys, and no more"),
        ('back("1")', "back takes nothing, and no more"),
        ('fill("7")', "missing required field `text`"),
        ('fill("7", 5)', "Expected `str`, got `int`"),
        ('choose("7", [])', "between 1 and 100 options"),
        ("scroll()", "nothing was to be scrolled"),
        ('scroll("down", 0)', "nothing was to be scrolled"),
        ('scroll("down", dy=5)', "either `direction` or"),
        ('scroll("around")', "Invalid enum value 'around'"),
        ("scroll(0, 1e999)", "a number of notches"),
        ('press("")', "`keys` was empty"),
        ('press("12", "Enter")', "press takes keys, and no more"),
        ('type("")', "the text was empty"),
        ('type("\\x00")', "control character"),
        ('type("\\ud800")', "surrogate"),
        ("switch_tab(-1)", ">= 0"),
        ("switch_tab(1.5)", "Expected `int`"),
        ("wait(-1)", "between 0 and 60"),
        ("wait(1e999)", "between 0 and 60"),
        ('answer("")', "the text was empty"),
        ("answer(42)", "Expected `str`, got `int`"),
        ("click(12", "at the end of the text; in the call 'click(12'"),
        ("click(50, 50)", "click takes an element's id, the number in brackets before it, not a point"),
        ('hover("50", "50")', "hover takes an element's id"),
        ("click(text)", "texts stand in quotes"),
        ('click("1")\nnothing("2")', "There is no 'nothing'; there are click"),
    ],
)
def test_elements_gone_wrong(line: str, said: str) -> None:
    act = done(fence(line))[-1]
    assert isinstance(act, Malformed)
    assert said in act.problem
    assert not isinstance(done(example_in(act.problem))[0], Malformed)


# --- code ---------------------------------------------------------------------------------------------------------


def test_code() -> None:
    code = "import pyautogui\npyautogui.click(640, 360)"
    assert done(fence(code, "python")) == [acts.Code(code)]
    assert done(fence(code)) == [acts.Code(code)]
    assert done(code) == [acts.Code(code)]
    assert done("pyautogui.click(1, 2)") == [acts.Code("pyautogui.click(1, 2)")]
    assert done(fence(f"{code}\n\nDONE", "python")) == [acts.Code(code), acts.Done()]
    assert done(fence(code, "python") + fence("WAIT")) == [acts.Code(code), acts.Wait()]
    assert done(fence("x = 'a'\nprint('<tool_call>')", "python")) == [acts.Code("x = 'a'\nprint('<tool_call>')")]


@pytest.mark.parametrize(
    "message", [fence("pyautogui.click(1, 2)", "python"), "import pyautogui", fence("x = 1", "py")]
)
def test_code_where_none_is_taken(message: str) -> None:
    assert "Code is not carried out on this screen" in problem(message, takes_code=False)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (fence("", "python"), "The block was empty"),
        (fence("pyautogui.press('a')\n" * 1000, "python"), f"more than {MOST_CODE}"),
        (fence("pyautogui.write('\0')", "python"), "NUL byte"),
        ("```python\npyautogui.click(1, 2)", "not closed"),
        (fence("ls -l", "bash"), "The block holds 'ls -l', which is no action; there are click, fill"),
        (fence("", "text"), "The block holds nothing, which is no action"),
    ],
)
def test_blocks_gone_wrong(message: str, said: str) -> None:
    assert said in problem(message)


# --- messages -----------------------------------------------------------------------------------------------------


def test_several_calls_keep_their_order_and_their_ids() -> None:
    message = native(("click", {"id": "1"}), ("no_such", "{}"), ("done", "{}"), content="FAIL")
    parsed = read(message)
    assert [call.id for call in parsed] == ["c0", "c1", "c2"]
    assert [call.name for call in parsed] == ["click", "malformed", "done"]
    assert isinstance(parsed[1].act, Malformed)
    assert [call.id for call in read(tag("done") + tag("done"))] == [None, None]


@pytest.mark.parametrize(
    "message", ['Click("12")', 'CLICK("12")', tag("Click", id="12"), native(("CLICK", {"id": "12"}))], ids=str
)
def test_names_are_read_whatever_their_case(message: Any) -> None:
    assert done(message) == [acts.ClickElement("12")]


def test_so_are_those_of_the_other_vocabularies() -> None:
    assert done(use("LEFT_CLICK", coordinate=[0, 0])) == [acts.Click(0, 0)]
    assert done(tag("Computer_Use", action="Done")) == [acts.Done()]
    assert done(tag("double_Click", coordinate=[0, 0])) == [acts.Click(0, 0, count=2)]
    assert done(tag("right_click")) == [acts.Click(button="right")]
    assert done(tag("move_to", x=0, y=0)) == [acts.Move(0, 0)]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    "message", ["Now I press the button.", "", fence("ls", "bash"), tag("no_such"), fence("{", "json")]
)
def test_examples_have_the_form_that_the_prompt_teaches(space: Space, message: str) -> None:
    (parsed,) = parse(message, size=SIZE, takes_code=True, space=space)
    assert isinstance(parsed.act, Malformed)
    said = parsed.act.problem
    forms = {
        "elements": 'click("',
        "computer_use": "<tool_call>{",
        "computer_13": '{"action_type"',
        "pyautogui": "pyautogui.c",
    }
    assert [name for name, form in forms.items() if form in said] == [space]


def test_a_desktop_is_not_offered_tabs() -> None:
    message = fence("ls", "bash")
    assert "switch_tab" not in problem(message)
    assert "switch_tab" in problem(message, takes_code=False)


def test_names_are_those_of_the_actions() -> None:
    named = {
        use("click"): "left_click",
        tag("go_back"): "back",
        '{"action_type": "DRAG_TO", "x": 1, "y": 1}': "DRAG_TO",
    }
    for message, name in named.items():
        assert read(message)[0].name == name
    assert read(fence("pyautogui.click()"))[0].name == "code"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", "The message was empty"),
        ("  \n", "The message was empty"),
        ("<think>hm</think>", "The message was empty"),
        ("<think>hm", "no action in the message"),
        ("I click on it.", "no action in the message"),
        ("I call click('12') now.", "no action in the message"),
        (None, "A message is a text, or an object"),
        (5, "A message is a text, or an object"),
        ({"content": None}, "The message was empty"),
        ({"content": [{"type": "text", "text": "hm"}]}, "no action in the message"),
        ({"tool_calls": 5}, "must be a list"),
        ({"tool_calls": [5]}, "must be an object"),
        ({"tool_calls": [{"id": "c", "function": {"name": "click", "arguments": "{"}}]}, "are not valid JSON"),
        ({"tool_calls": [{"id": "c", "function": {"name": "click", "arguments": [1]}}]}, "Expected `object`"),
        ({"tool_calls": [{"id": "c", "function": {"name": "click", "arguments": {"id": "\ud800"}}}]}, "cannot be"),
    ],
)
def test_messages_that_ask_for_nothing(message: Any, said: str) -> None:
    assert said in problem(message)


def test_nothing_that_an_agent_writes_makes_it_raise() -> None:
    chance = random.Random(6)
    whole = [message for message, *_ in (*USED.values(), *MISUSED.values())] + [fence(line) for line in CALLED]
    whole += [fence(json.dumps({"action_type": name.split()[0], **row[0]})) for name, row in OBJECTS.items()]
    pieces = [
        *string.printable,
        "\ud800",
        "\0",
        "NaN",
        "1e999",
        "9" * 400,
        "[[",
        "{",
        "```",
        "<tool_call>",
        "</think>",
        "True",
    ]
    for _ in range(4000):
        text = chance.choice(whole)
        kind = chance.randrange(3)
        if kind == 0:
            text = text[: chance.randrange(len(text) + 1)]
        elif kind == 1:
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(pieces) + text[at + chance.randint(0, 3) :]
        else:
            text = "".join(chance.choice(pieces) for _ in range(chance.randint(0, 60)))
        calls = read(text, takes_code=chance.random() < 0.5, coordinates=chance.choice(["grid", "pixels"]))
        assert calls
        for call in calls:
            if isinstance(call.act, Malformed):
                assert "Write" in call.act.problem
            elif isinstance(call.act, acts.Click) and call.act.x is not None and call.act.y is not None:
                assert 0 <= call.act.x < 1280
                assert 0 <= call.act.y < 720


VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "a",
    "\ud800",
    "\0",
    [],
    [1, 2],
    [[]],
    {},
]


def test_no_argument_of_any_kind_makes_it_raise() -> None:
    chance = random.Random(8)
    names = [
        "computer_use",
        "computer",
        "computer_13",
        *(row[0] for row in CALLED.values()),
        "left_click",
        "CLICK",
        "x",
    ]
    keys = [
        "action",
        "action_type",
        "coordinate",
        "start_coordinate",
        "keys",
        "text",
        "pixels",
        "time",
        "status",
        "id",
        "x",
    ]
    keys += [
        "y",
        "dx",
        "dy",
        "button",
        "parameters",
        "scroll_direction",
        "scroll_amount",
        "seconds",
        "index",
        "options",
    ]
    words = ["left_click", "scroll", "key", "terminate", "SCROLL", "HOTKEY", "PRESS", "down", "left"]
    for _ in range(5000):
        arguments = {key: chance.choice([*VALUES, *words]) for key in chance.sample(keys, chance.randint(0, 5))}
        assert read(native((chance.choice(names), arguments)))


@pytest.mark.parametrize(
    "unit", ["[", "{", '{"action_type":', "click(", "<tool_call>", "```\n", "FAIL\n", "(", "`", "\\", '"']
)
def test_the_time_is_linear_in_the_message(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    for message in (text, fence(text), f"<tool_call>{text}</tool_call>", f"click('{text}"):
        read(message)
    assert time.process_time() - started < 10
