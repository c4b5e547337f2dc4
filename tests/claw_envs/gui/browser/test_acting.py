import asyncio
from typing import Any

import pytest

from claw_envs.gui.acts import (
    ButtonDown,
    ButtonUp,
    Choose,
    Click,
    ClickElement,
    Code,
    Drag,
    DragElement,
    Fill,
    Hotkey,
    HoverElement,
    KeyDown,
    KeyUp,
    Move,
    Scroll,
    ScrollElement,
    Type,
    Wait,
)
from claw_envs.gui.browser import Request, Response
from claw_envs.gui.browser import settle as settling
from tests.claw_envs.gui.browser.conftest import Page

PAD = """<body style='margin:0'><div id=pad style='width:400px;height:300px;background:#ccc'></div><script>
const said = []; const pad = document.querySelector('#pad');
for (const name of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'mousemove', 'auxclick'])
  pad.addEventListener(name, (e) => said.push([name, e.clientX, e.clientY, e.button, e.detail, e.ctrlKey, e.shiftKey]));
</script>"""


def names(said: list[Any]) -> list[str]:
    return [one[0] for one in said if one[0] != "mousemove"]


def test_a_click_is_what_a_mouse_does(page: Page) -> None:
    async def body() -> Any:
        await page.open(PAD)
        await page.do(Click(30, 40))
        return await page.script("said")

    said = asyncio.run(body())
    assert names(said) == ["mousedown", "mouseup", "click"]
    assert said[-1] == ["click", 30, 40, 0, 1, False, False]


@pytest.mark.parametrize(
    ("act", "last"),
    [
        (Click(30, 40, count=2), ["dblclick", 30, 40, 0, 2, False, False]),
        (Click(30, 40, count=3), ["click", 30, 40, 0, 3, False, False]),
        (Click(30, 40, button="middle"), ["auxclick", 30, 40, 1, 1, False, False]),
        (Click(30, 40, keys=("ctrl", "shift")), ["click", 30, 40, 0, 1, True, True]),
    ],
)
def test_kinds_of_clicks(page: Page, act: Click, last: list[Any]) -> None:
    async def body() -> Any:
        await page.open(PAD)
        assert await page.do(act) is None
        return await page.script("said")

    assert asyncio.run(body())[-1] == last


def test_a_right_click_asks_for_the_context_menu(page: Page) -> None:
    async def body() -> Any:
        await page.open(PAD)
        await page.do(Click(30, 40, button="right"))
        return await page.script("said")

    assert "contextmenu" in names(asyncio.run(body()))


def test_a_click_without_a_place_is_where_the_pointer_is(page: Page) -> None:
    async def body() -> Any:
        await page.open(PAD)
        await page.do(Move(70, 80))
        await page.do(Click())
        return await page.script("said")

    assert asyncio.run(body())[-1][:3] == ["click", 70, 80]


def test_buttons_are_held_from_one_act_to_the_next(page: Page) -> None:
    async def body() -> Any:
        await page.open(PAD)
        for act in (Move(10, 10), ButtonDown(), Move(90, 90), ButtonUp()):
            await page.do(act)
        return await page.script("said")

    said = [one for one in asyncio.run(body()) if one[0] in ("mousedown", "mouseup")]
    assert [one[:3] for one in said] == [["mousedown", 10, 10], ["mouseup", 90, 90]]


def test_a_drag_moves_in_between(page: Page) -> None:
    async def body() -> Any:
        await page.open(PAD)
        await page.do(Drag(200, 200, 20, 20))
        return await page.script("said")

    said = asyncio.run(body())
    down, up = (next(i for i, one in enumerate(said) if one[0] == name) for name in ("mousedown", "mouseup"))
    assert said[down][:3] == ["mousedown", 20, 20]
    assert said[up][:3] == ["mouseup", 200, 200]
    assert up - down > 3


DROP = """<div draggable=true id=a aria-label=thing style='width:80px;height:40px'>thing</div>
<div id=b role=button aria-label=bin style='margin-top:60px;width:200px;height:100px'>bin</div><script>
a.ondragstart = (e) => e.dataTransfer.setData('text/plain', 'carried');
b.ondragover = (e) => e.preventDefault();
b.ondrop = (e) => { e.preventDefault(); document.title = e.dataTransfer.getData('text/plain'); };
</script>"""


def test_an_element_is_dragged_onto_another_as_html_defines_it(page: Page) -> None:
    async def body() -> Any:
        await page.open(DROP)
        assert await page.do(DragElement(await page.id("thing"), await page.id("bin"))) is None
        return await page.script("document.title")

    assert asyncio.run(body()) == "carried"


def test_the_wheel_scrolls_the_page_and_what_is_under_the_pointer(page: Page) -> None:
    inner = "<div role=list aria-label=inner style='height:100px;overflow:auto'><div style='height:900px'>x</div></div>"

    async def body() -> Any:
        await page.open(f"{inner}<div style='height:3000px'></div>")
        await page.do(Scroll(dy=3, x=400, y=400))
        down = await page.script("scrollY")
        await page.do(Scroll(dy=-10, x=400, y=400))
        await page.do(ScrollElement(await page.id("inner"), dy=2))
        return down, await page.script("[scrollY, document.querySelector('[role=list]').scrollTop]")

    assert asyncio.run(body()) == (300, [0, 200])


def test_text_arrives_as_keys_and_a_line_break_as_enter(page: Page) -> None:
    async def body() -> Any:
        await page.open(
            "<textarea aria-label=t></textarea><script>keys = []; onkeydown = (e) => keys.push(e.key)</script>"
        )
        await page.do(ClickElement(await page.id("t")))
        await page.do(Type("Aé\nz"))
        return await page.script("[document.querySelector('textarea').value, keys]")

    value, keys = asyncio.run(body())
    assert value == "Aé\nz"
    assert "Enter" in keys
    assert "A" in keys


def test_a_long_text_arrives_whole(page: Page) -> None:
    text = "line of text\n" * 400

    async def body() -> Any:
        await page.open("<textarea autofocus></textarea>")
        await page.do(Type(text))
        return await page.script("document.querySelector('textarea').value")

    assert asyncio.run(body()) == text


def test_keys_are_held_while_others_are_pressed(page: Page) -> None:
    async def body() -> Any:
        await page.open(
            "<input autofocus value=old><script>keys = []; onkeydown = (e) => keys.push([e.key, e.shiftKey])</script>"
        )
        await page.do(Hotkey(("ctrl", "a")))
        await page.do(KeyDown("shift"))
        await page.do(Hotkey(("b",)))
        await page.do(KeyUp("shift"))
        await page.do(Hotkey(("c",)))
        return await page.script("[document.querySelector('input').value, keys.slice(2)]")

    value, keys = asyncio.run(body())
    assert value == "Bc"
    assert keys == [["Shift", True], ["B", True], ["c", False]]


@pytest.mark.parametrize("act", [Hotkey(("ctrl", "hyper")), KeyDown("nokey"), Click(1, 1, keys=("fn+",))])
def test_an_unknown_key_is_said_and_nothing_is_pressed(page: Page, act: Any) -> None:
    async def body() -> Any:
        await page.open("<script>keys = []; onkeydown = onmousedown = (e) => keys.push(e.type)</script>")
        return await page.do(act), await page.script("keys")

    error, keys = asyncio.run(body())
    assert error.startswith("there is no key")
    assert keys == []


def test_the_keys_of_a_browser(page: Page) -> None:
    async def body() -> list[str]:
        await page.open("first", {"/two": "second"})
        await page.screen.visit("http://page.test/two")
        urls = []
        for keys in (("alt", "left"), ("alt", "right"), ("f5",), ("ctrl", "t"), ("ctrl", "w")):
            assert await page.do(Hotkey(keys)) is None
            urls.append((await page.look()).url or "")
        return urls

    home, two = "http://page.test/", "http://page.test/two"
    assert asyncio.run(body()) == [home, two, two, "about:blank", two]


FIELDS = [
    ("<input aria-label=f value=old>", "new", "new"),
    ("<input aria-label=f value=old>", "", ""),
    ("<textarea aria-label=f>old</textarea>", "a\nb", "a\nb"),
    ("<input aria-label=f type=number value=3>", "42", "42"),
    ("<input aria-label=f type=password>", "pässword", "pässword"),
    ("<input aria-label=f type=date>", "2024-05-31", "2024-05-31"),
    ("<input aria-label=f type=time>", "18:30", "18:30"),
    ("<input aria-label=f type=datetime-local>", "2024-05-31T18:30", "2024-05-31T18:30"),
    ("<input aria-label=f type=month>", "2024-05", "2024-05"),
    ("<input aria-label=f type=color>", "#FF8800", "#ff8800"),
    ("<input aria-label=f type=range max=10>", "7", "7"),
]


@pytest.mark.parametrize(("field", "text", "value"), FIELDS)
def test_a_field_is_filled_and_its_page_is_told(page: Page, field: str, text: str, value: str) -> None:
    async def body() -> Any:
        await page.open(f"{field}<script>told = 0; oninput = () => told++</script>")
        error = await page.do(Fill(await page.id("f"), text))
        return error, await page.script("[document.querySelector('[aria-label=f]').value, told > 0]")

    assert asyncio.run(body()) == (None, [value, True])


def test_an_editable_text_is_replaced(page: Page) -> None:
    async def body() -> Any:
        await page.open("<div contenteditable aria-label=f>old <b>text</b></div>")
        await page.do(Fill(await page.id("f"), "new"))
        filled = await page.script("document.querySelector('div').innerText")
        await page.do(Fill(await page.id("f"), ""))
        return filled.strip(), (await page.script("document.querySelector('div').innerText")).strip()

    assert asyncio.run(body()) == ("new", "")


@pytest.mark.parametrize(
    ("field", "error"),
    [
        ("<input aria-label=f disabled>", "is disabled"),
        ("<input aria-label=f readonly>", "is read-only"),
        ("<button aria-label=f>x</button>", "is no field"),
        ("<input aria-label=f type=date>", "takes a date as in 2024-05-31"),
    ],
)
def test_what_cannot_be_filled_is_said(page: Page, field: str, error: str) -> None:
    async def body() -> Any:
        await page.open(field)
        return await page.do(Fill(await page.id("f"), "text"))

    assert error in asyncio.run(body())


SELECT = "<select aria-label=s {}><option value=1>One<option value=2>Two<option disabled>Three</select>"


def test_options_are_chosen_by_what_they_show(page: Page) -> None:
    async def body() -> Any:
        await page.open(SELECT.format("onchange='document.title=this.value'") + "<p>below")
        error = await page.do(Choose(await page.id("s"), ("Two",)))
        return error, await page.script("document.title"), (await page.element("s")).value

    assert asyncio.run(body()) == (None, "2", "Two")


def test_several_options_of_a_list_are_chosen_together(page: Page) -> None:
    async def body() -> Any:
        await page.open(SELECT.format("multiple"))
        await page.do(Choose(await page.id("s"), ("One", "Two")))
        return await page.script("[...document.querySelector('select').selectedOptions].map((o) => o.value)")

    assert asyncio.run(body()) == ["1", "2"]


@pytest.mark.parametrize(
    ("options", "error"),
    [(("Four",), 'has no option "Four"; it has "One"'), (("One", "Two"), "exactly one"), (("Three",), "is disabled")],
)
def test_what_cannot_be_chosen_is_said(page: Page, options: tuple[str, ...], error: str) -> None:
    async def body() -> Any:
        await page.open(SELECT.format(""))
        return await page.do(Choose(await page.id("s"), options)), await page.script(
            "document.querySelector('select').value"
        )

    said, value = asyncio.run(body())
    assert error in said
    assert value == "1"


def test_a_list_that_a_page_made_itself_is_chosen_from(page: Page) -> None:
    listed = "<ul role=listbox aria-label=l><li role=option>One<li role=option onclick='document.title=2'>Two</ul>"

    async def body() -> Any:
        await page.open(listed)
        return await page.do(Choose(await page.id("l"), ("Two",))), await page.script("document.title")

    assert asyncio.run(body()) == (None, "2")


def test_an_element_is_scrolled_into_view_and_clicked(page: Page) -> None:
    async def body() -> Any:
        await page.open("<div style='height:4000px'></div><button onclick='document.title=1'>far</button>")
        far = await page.element("far")
        error = await page.do(ClickElement(far.id))
        return far.states, error, await page.script("document.title")

    assert asyncio.run(body()) == (("offscreen",), None, "1")


FRAME = "<p>x<iframe src='{}' style='margin:30px;border:5px solid'></iframe>"
FRAMED = "<div style='height:900px'></div><button onclick='this.textContent=\"done\"'>inside</button>"


def test_an_element_in_a_frame_is_clicked(page: Page) -> None:
    async def body() -> Any:
        await page.open(FRAME.format("/inner"), {"/inner": FRAMED})
        error = await page.do(ClickElement(await page.id("inside")))
        return error, [element.name for element in await page.elements() if element.role == "button"]

    assert asyncio.run(body()) == (None, ["done"])


async def framed(page: Page, inner: str) -> None:
    """A page whose frame is of another origin, with a third one's within."""

    async def other(request: Request) -> Response:
        return Response(200, {"content-type": "text/html"}, inner.encode())

    async def third(request: Request) -> Response:
        return Response(200, {"content-type": "text/html"}, FRAME.format("http://other.test/").encode())

    await page.open("")
    page.pages = {"/": f"<input aria-label=outside>{FRAME.format('http://third.test/')}<p>below"}
    await page.screen.serve("third.test", third)
    await page.screen.serve("other.test", other)
    await page.screen.visit("http://page.test/")


def test_an_element_in_frames_of_other_origins_is_listed_in_its_place_and_clicked(page: Page) -> None:
    async def body() -> Any:
        await framed(page, FRAMED)
        before = await page.elements()
        error = await page.do(ClickElement(await page.id("inside")))
        return before, error, [one.name for one in await page.elements() if one.role == "button"]

    before, error, after = asyncio.run(body())
    assert [f"{one.depth} {one.role} {one.name}".strip() for one in before] == [
        "0 textbox outside",
        "0 text x",
        "0 iframe",
        "1 text x",
        "1 iframe",
        "2 button inside",
        "0 text below",
    ]
    frames = [one.box for one in before if one.role == "iframe"]
    assert None not in frames
    assert frames[1][1] - frames[0][1] > 30
    assert "offscreen" in next(one.states for one in before if one.name == "inside")
    assert (error, after) == (None, ["done"])


def test_fields_in_frames_of_other_origins(page: Page) -> None:
    async def body() -> Any:
        await framed(page, "<input aria-label=f value=old>")
        await page.do(Fill(await page.id("outside"), "text"))
        await page.do(Hotkey(("ctrl", "a")))
        await page.do(Hotkey(("ctrl", "c")))
        await page.do(Fill(await page.id("f"), "new "))
        await page.do(Hotkey(("ctrl", "v")))
        return (await page.element("f")).value, (await page.look()).focused, await page.id("f")

    value, focused, field = asyncio.run(body())
    assert value == "new text"
    assert focused == f'[{field}] textbox "f"'


def test_an_element_of_a_frame_that_is_gone(page: Page) -> None:
    async def body() -> Any:
        await framed(page, FRAMED)
        inside = await page.id("inside")
        await page.script("document.querySelector('iframe').remove()")
        return await page.do(ClickElement(inside)), [one.name for one in await page.elements()]

    error, names = asyncio.run(body())
    assert error.startswith("there is no element")
    assert names == ["outside", "x", "below"]


def test_a_covered_element_is_not_clicked_and_what_covers_it_is_named(page: Page) -> None:
    cover = "<div role=dialog aria-label=cover style='position:fixed;inset:0;background:#fff8'>over</div>"

    async def body() -> Any:
        await page.open(f"<button onclick='document.title=1'>below</button>{cover}")
        return (
            await page.do(ClickElement(await page.id("below"))),
            await page.script("document.title"),
            await page.id("cover"),
        )

    error, title, cover_id = asyncio.run(body())
    assert f"is covered by [{cover_id}] dialog" in error
    assert title == ""


def test_hovering_shows_what_a_page_shows_then(page: Page) -> None:
    async def body() -> Any:
        await page.open(
            "<style>p{display:none} button:hover + p{display:block}</style><button>menu</button><p>shown</p>"
        )
        before = [element.name for element in await page.elements()]
        await page.do(HoverElement(await page.id("menu")))
        return before, [element.name for element in await page.elements()]

    assert asyncio.run(body()) == (["menu"], ["menu", "shown"])


@pytest.mark.parametrize(
    "act", [ClickElement("77"), Fill("77", "x"), Choose("77", ("x",)), HoverElement("x"), ScrollElement("")]
)
def test_an_unknown_element_is_said(page: Page, act: Any) -> None:
    async def body() -> Any:
        await page.open("<p>x")
        return await page.do(act)

    assert asyncio.run(body()).startswith("there is no element")


def test_an_id_of_an_earlier_page_is_nothing(page: Page) -> None:
    async def body() -> Any:
        await page.open("<a href=/two>on</a>", {"/two": "<button onclick='document.title=1'>new</button>"})
        old = await page.id("on")
        await page.do(ClickElement(old))
        return await page.do(ClickElement(old)), old, await page.id("new")

    error, old, new = asyncio.run(body())
    assert error.startswith("there is no element")
    assert old != new


def test_code_is_not_for_browsers_and_waiting_is_nothing(page: Page) -> None:
    async def body() -> Any:
        await page.open("x")
        return await page.do(Code("import os")), await page.do(Wait(0.0))

    assert asyncio.run(body()) == ("a browser carries out no code", None)


def test_what_an_act_sets_off_is_there_at_the_next_look(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that arrives later, and a fade that ends soon, however busy the machine is."""
    monkeypatch.setattr(settling, "PATIENCE", 10_000)
    monkeypatch.setattr(settling, "ANIMATIONS", 10_000)
    body_of_page = """<style>p{opacity:0;transition:opacity .2s} p.on{opacity:1}</style><p id=p>x</p>
      <button onclick="get()">get</button><script>async function get() {
        p.textContent = await (await fetch('/data')).text(); p.className = 'on'; }</script>"""

    async def body() -> Any:
        await page.open(body_of_page, {"/data": "answered"})
        await page.do(ClickElement(await page.id("get")))
        return await page.script("[p.textContent, getComputedStyle(p).opacity]")

    assert asyncio.run(body()) == ["answered", "1"]


def test_a_page_that_asks_for_ever_is_not_waited_for(page: Page) -> None:
    polls = "<button>go</button><script>(async () => { while (true) await fetch('/data'); })()</script>"

    async def body() -> Any:
        await page.open(polls, {"/data": "answered"})
        return await page.do(ClickElement(await page.id("go"))), (await page.look()).notes

    error, notes = asyncio.run(body())
    assert error is None
    assert list(notes) == []
