"""Acts as calls of pyautogui, acts on elements as acts on points, and a tree as elements."""

import ast
from typing import Any
from xml.etree import ElementTree

import pytest

from claw_envs.gui import acts
from claw_envs.gui.desktop.inside.node import Window
from claw_envs.gui.osworld.elements import Elements
from claw_envs.gui.osworld.hands import ActError, plain
from claw_envs.gui.osworld.script import PREFIX, script
from claw_envs.gui.osworld.state import State
from claw_envs.gui.screen import Element, Pane

SIZE = (800, 600)
SHOWN = {
    "1": Element(id="1", role="button", box=(10, 10, 20, 40)),
    "2": Element(id="2", role="button"),
    "3": Element(id="3", role="button", box=(790, 0, 100, 10)),
    "4": Element(id="4", role="button", box=(900, 0, 10, 10)),
}


@pytest.mark.parametrize(
    ("act", "calls"),
    [
        (acts.Move(1, 2), "pyautogui.moveTo(1, 2)"),
        (acts.Click(), "pyautogui.click(clicks=1, button='left')"),
        (
            acts.Click(1, 2, "right", 2, ("ctrl",)),
            "pyautogui.keyDown('ctrl'); pyautogui.click(x=1, y=2, clicks=2, button='right'); pyautogui.keyUp('ctrl')",
        ),
        (acts.ButtonDown("middle"), "pyautogui.mouseDown(button='middle')"),
        (acts.ButtonUp(), "pyautogui.mouseUp(button='left')"),
        (acts.Drag(3, 4, 1, 2), "pyautogui.moveTo(1, 2); pyautogui.dragTo(3, 4, duration=0.5, button='left')"),
        (acts.Scroll(dy=3, dx=-0.2, x=1, y=2), "pyautogui.moveTo(1, 2); pyautogui.vscroll(-3); pyautogui.hscroll(-1)"),
        (acts.Scroll(), "pass"),
        (acts.Type("it's\n"), 'pyautogui.typewrite("it\'s\\n")'),
        (
            acts.Type("<a<"),
            'pyautogui.hotkey("shift", ","); pyautogui.typewrite(\'a\'); pyautogui.hotkey("shift", ",")',
        ),
        (acts.Type(""), "pass"),
        (acts.Hotkey(("ctrl", "c")), "pyautogui.hotkey('ctrl', 'c')"),
        (acts.KeyDown("a"), "pyautogui.keyDown('a')"),
        (acts.KeyUp("a"), "pyautogui.keyUp('a')"),
        (acts.Code("pyautogui.click(1, 2)"), "pyautogui.click(1, 2)"),
    ],
)
def test_scripts(act: Any, calls: str) -> None:
    assert script(act) == PREFIX + calls
    ast.parse(script(act))


@pytest.mark.parametrize(
    ("act", "found"),
    [
        (acts.ClickElement("1", "right", 2, ("shift",)), [acts.Click(20, 30, "right", 2, ("shift",))]),
        (acts.ClickElement("3"), [acts.Click(795, 5)]),
        (acts.HoverElement("1"), [acts.Move(20, 30)]),
        (acts.ScrollElement("1", 0, 2), [acts.Scroll(0, 2, 20, 30)]),
        (acts.DragElement("1", "3"), [acts.Drag(795, 5, 20, 30)]),
        (acts.Fill("1", "x"), [acts.Click(20, 30), acts.Hotkey(("ctrl", "a")), acts.Type("x")]),
        (acts.Fill("1", ""), [acts.Click(20, 30), acts.Hotkey(("ctrl", "a")), acts.Hotkey(("delete",))]),
        (acts.Type("x"), [acts.Type("x")]),
    ],
)
def test_acts_on_elements(act: Any, found: list[Any]) -> None:
    assert plain(act, SHOWN, SIZE) == found


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (acts.ClickElement("9"), "no element 9"),
        (acts.ClickElement("2"), "no place"),
        (acts.ClickElement("4"), "not on the screen"),
        (acts.DragElement("1", "9"), "no element 9"),
        (acts.Choose("1", ("a",)), "cannot choose"),
        (acts.Click(800, 0), r"\(800, 0\) is not on the screen"),
        (acts.Drag(1, 600), r"\(1, 600\) is not on the screen"),
        (acts.Back(), "no browser"),
    ],
)
def test_what_cannot_be_done(act: Any, said: str) -> None:
    with pytest.raises(ActError, match=said):
        plain(act, SHOWN, SIZE)


STATES = 'xmlns:st="https://accessibility.ubuntu.example.org/ns/state"'
SHOWS = 'st:showing="true" st:visible="true" st:enabled="true"'
TREE = f"""<desktop-frame {STATES} xmlns:cp="https://accessibility.ubuntu.example.org/ns/component"
  xmlns:val="https://accessibility.ubuntu.example.org/ns/value">
<application name="Back"><frame name="Behind" {SHOWS}/></application>
<application name="Editor"><frame name="Note" st:active="true" {SHOWS} cp:screencoord="(5, 6)" cp:size="(300, 200)">
  <panel {SHOWS}>
    <push-button name="Save" {SHOWS} cp:screencoord="(10, 20)" cp:size="(30, 40)"/>
    <push-button name="Save" {SHOWS}/>
    <text name="" {SHOWS} st:focused="true">what is written</text>
    <slider name="Zoom" {SHOWS} val:value="7"/>
    <label name="gone"/>
    <scroll-bar name="" {SHOWS}><push-button name="up" {SHOWS}/></scroll-bar>
    <check-box name="Bold" st:showing="true" st:checked="true"/>
  </panel>
</frame></application></desktop-frame>"""


def test_a_tree() -> None:
    found = Elements().listed(ElementTree.fromstring(TREE), (), {})
    assert [(each.depth, each.role, each.name, each.value, each.states) for each in found] == [
        (0, "window", "Note", "", ()),
        (1, "button", "Save", "", ()),
        (1, "button", "Save", "", ()),
        (1, "textbox", "", "what is written", ("focused",)),
        (1, "slider", "Zoom", "7", ()),
        (1, "checkbox", "Bold", "", ("checked", "disabled")),
        (0, "window", "Behind", "", ()),
    ]
    assert [each.box for each in found[:3]] == [(5, 6, 300, 200), (10, 20, 30, 40), None]


def test_ids_stay_with_their_nodes() -> None:
    elements = Elements()
    before = {(each.role, each.name): each.id for each in elements.listed(ElementTree.fromstring(TREE), (), {})}
    changed = TREE.replace("what is written", "more").replace('<label name="gone"/>', f'<label name="new" {SHOWS}/>')
    after = {(each.role, each.name): each.id for each in elements.listed(ElementTree.fromstring(changed), (), {})}
    assert before.items() <= after.items()
    assert after["text", "new"] not in before.values()
    assert set(elements.shown) == set(after.values()) | {each.id for each in elements.shown.values()}


def test_a_tree_that_is_too_deep_is_cut() -> None:
    depth = 5000
    tree = (
        f"<a {STATES}><b><frame name='w' {SHOWS}>"
        + f"<panel name='p' {SHOWS}>" * depth
        + f"<label name='x' {SHOWS}/>"
        + "</panel>" * depth
        + "</frame></b></a>"
    )
    found = Elements().listed(ElementTree.fromstring(tree), (), {})
    assert found[0].name == "w"
    assert 10 < len(found) < 100


def test_a_window_that_tells_nothing_is_there_with_its_terminals_text() -> None:
    window = Window(7, "sh", "xterm", "XTerm", 0, (1, 2, 30, 40), (1, 2, 30, 40), True)
    tree = ElementTree.fromstring(TREE.replace('st:active="true"', ""))
    found = Elements().listed(tree, (window,), {7: "$ ls"})
    assert [(each.role, each.name, each.value) for each in found[:2]] == [("window", "sh", ""), ("textbox", "", "$ ls")]


def test_windows_and_boot() -> None:
    output = (
        "b00t\n_NET_ACTIVE_WINDOW(WINDOW): window id # 0x1e00003\n"
        "_NET_CLIENT_LIST_STACKING(WINDOW): window id # 0xc00001, 0x1e00003\n"
        "0x01e00003  0 10   20   300  200  mousepad.Mousepad  host a title  with  blanks\n"
        "0x00a00001 -1 0 0 9 9 panel.Panel host panel\n0x00c00001  0 1 2 3 4 x.X host other\n"
    )
    state = State.read(output)
    assert state.boot == "b00t"
    assert state.panes == [Pane(title="a title  with  blanks", active=True), Pane(title="other")]
    assert [window.title for window in state.stacked] == ["other", "a title  with  blanks"]
    assert state.windows[0].box == (10, 20, 300, 200)
    by_xdotool = State.read("b00t\n31457283\n\n0x01e00003  0 1 2 3 4 a.A host x\n")
    assert by_xdotool.panes == [Pane(title="x", active=True)]
    assert State.read("") == State("", ())
