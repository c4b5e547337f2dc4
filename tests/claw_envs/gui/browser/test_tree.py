import asyncio
from typing import Any

import numpy as np
import pytest

from claw_envs.gui.acts import ClickElement, Goto, Scroll
from claw_envs.gui.screen import Element, Parts
from tests.claw_envs.gui.browser.conftest import Page


def listed(page: Page, html: str) -> list[Element]:
    async def body() -> list[Element]:
        await page.open(html)
        return await page.elements()

    return asyncio.run(body())


def lines(elements: list[Element]) -> list[str]:
    return [f"{'  ' * one.depth}{one.role} {one.name}".rstrip() for one in elements]


PIECES = [
    ("<button>Go</button>", "button", "Go", ""),
    ("<button aria-label=Close>×</button>", "button", "Close", ""),
    ("<button><img alt=Search src=x></button>", "button", "Search", ""),
    ("<input type=submit>", "button", "Submit", ""),
    ("<a href=/x>on</a>", "link", "on", ""),
    ("<label>Name <input value=Ann></label>", "textbox", "Name", "Ann"),
    ("<label for=i>Age</label><input id=i type=number value=3>", "spinbutton", "Age", "3"),
    ("<input placeholder=Where>", "textbox", "Where", ""),
    ("<b id=l>Led</b><input aria-labelledby=l>", "textbox", "Led", ""),
    ("<input title=Hint type=search value=q>", "searchbox", "Hint", "q"),
    ("<input aria-label=p type=password value=abc>", "textbox", "p", "•••"),
    ("<textarea aria-label=t>text</textarea>", "textbox", "t", "text"),
    ("<div contenteditable aria-label=e>text</div>", "textbox", "e", "text"),
    ("<input type=range aria-label=r value=7 max=10>", "slider", "r", "7"),
    ("<h2>Head <i>line</i></h2>", "heading", "Head line", ""),
    ("<img alt=Cat src=x>", "img", "Cat", ""),
    ("<div role=tab aria-selected=true>One</div>", "tab", "One", ""),
    ("<progress value=3 max=4></progress>", "progressbar", "", "3"),
    ("<span style='cursor:pointer'>act</span>", "generic", "act", ""),
    ("<div tabindex=0>act</div>", "generic", "act", ""),
    ("<p>some <b>bold</b> text</p>", "text", "some bold text", ""),
    ("<svg width=50 height=50><circle cx=9 cy=9 r=9 fill=red /></svg>", "graphics-symbol", "circle red", ""),
]


@pytest.mark.parametrize(("html", "role", "name", "value"), PIECES)
def test_roles_names_and_values(page: Page, html: str, role: str, name: str, value: str) -> None:
    found = [(one.role, one.name, one.value) for one in listed(page, html)]
    assert (role, name, value) in found


STATES = [
    ("<input type=checkbox checked>", {"checked"}),
    ("<input type=radio checked disabled>", {"checked", "disabled"}),
    ("<input required readonly aria-invalid=true>", {"required", "readonly", "invalid"}),
    ("<button aria-expanded=false>x</button>", {"collapsed"}),
    ("<button aria-pressed=true aria-expanded=true>x</button>", {"pressed", "expanded"}),
    ("<fieldset disabled><button>x</button></fieldset>", {"disabled"}),
    ("<div style='height:2000px'></div><button>x</button>", {"offscreen"}),
    ("<div style='height:50px;overflow:auto'><p style='height:90px'></p><button>x</button></div>", {"offscreen"}),
    ("<button autofocus>x</button>", {"focused"}),
    ("<div onclick=x>x</div>", {"clickable"}),
]


@pytest.mark.parametrize(("html", "states"), STATES)
def test_states(page: Page, html: str, states: set[str]) -> None:
    assert [set(one.states) for one in listed(page, html)] == [states]


HIDDEN = [
    "<p hidden>x</p>",
    "<p style='display:none'>x</p>",
    "<p style='visibility:hidden'>x</p>",
    "<p aria-hidden=true>x</p>",
    "<p inert>x</p>",
    "<input type=hidden value=x>",
    "<script>x</script><style>x</style><template>x</template>",
    "<select style='display:none'><option>x</select>",
]


@pytest.mark.parametrize("html", HIDDEN)
def test_what_is_hidden_is_left_out(page: Page, html: str) -> None:
    assert listed(page, html) == []


def test_depth_is_that_of_what_is_listed(page: Page) -> None:
    html = """<main><div><div><ul aria-label=things><li><a href=/a>a</a> and more<li>plain</ul></div></div>
      <table><tr><th>Item<th>Do<tr><td>Lamp<td><button>Delete</button></table></main>"""
    assert lines(listed(page, html)) == [
        "main",
        "  list things",
        "    listitem",
        "      link a",
        "      text and more",
        "    listitem plain",
        "  table",
        "    row",
        "      columnheader Item",
        "      columnheader Do",
        "    row",
        "      cell Lamp",
        "      cell",
        "        button Delete",
    ]


def test_options_stand_below_their_list(page: Page) -> None:
    found = listed(page, "<select aria-label=s><option>One<option selected>Two</select>")
    assert lines(found) == ["combobox s", "  option One", "  option Two"]
    assert [one.states for one in found] == [(), (), ("selected",)]
    assert [one.value for one in found] == ["Two", "", ""]


def test_frames_and_shadow_roots_are_walked(page: Page) -> None:
    html = """<style>iframe {position: absolute; left: 100px; top: 50px; border: 3px solid}</style>
      <iframe title=f srcdoc="<button>framed</button>"></iframe><x-y><i slot=s>slotted</i></x-y><script>
      const root = document.querySelector('x-y').attachShadow({mode: 'open'});
      root.innerHTML = '<button>shadowed</button><slot name=s></slot>';
      </script>"""
    found = {one.name: one for one in listed(page, html)}
    assert {"framed", "shadowed", "slotted"} <= found.keys()
    assert found["framed"].box is not None
    assert found["framed"].box[:2] == (100 + 3 + 8, 50 + 3 + 8)


def test_boxes_are_those_of_the_screen(page: Page) -> None:
    place = "position:absolute;left:20px;top:500px;width:80px;height:30px"
    html = f"<body style='margin:0;height:3000px'><button style='{place}'>x"

    async def body() -> Any:
        await page.open(html)
        first = await page.element("x")
        await page.do(Scroll(dy=2, x=5, y=5))
        return first.box, (await page.element("x")).box

    assert asyncio.run(body()) == ((20, 500, 80, 30), (20, 300, 80, 30))


def test_ids_stay_while_the_page_lives_and_are_never_given_again(page: Page) -> None:
    async def body() -> Any:
        html = "<button onclick='this.before(document.createElement(\"input\"))'>x</button>"
        await page.open(html, {"/two": "<p>y"})
        first = await page.id("x")
        await page.do(ClickElement(first))
        second = await page.elements()
        await page.do(Goto("http://page.test/two"))
        return first, [one.id for one in second if one.name == "x"], {one.id for one in second}, await page.id("y")

    first, again, before, after = asyncio.run(body())
    assert again == [first]
    assert after not in before


def test_the_focused_element_is_told_in_words(page: Page) -> None:
    async def body() -> Any:
        await page.open("<input aria-label=Name>")
        before = (await page.look()).focused
        await page.do(ClickElement(await page.id("Name")))
        return before, (await page.screen.look(Parts(screenshot=False, axtree=False))).focused, await page.id("Name")

    before, after, name_id = asyncio.run(body())
    assert before == ""
    assert after == f'[{name_id}] textbox "Name"'


def test_a_page_of_any_size_is_listed_in_part_and_says_so(page: Page) -> None:
    html = "<script>for (let i = 0; i < 15000; i++) document.body.append(document.createElement('hr'), 'x' + i, "
    html += "Object.assign(document.createElement('button'), {textContent: 'b' + i}))</script>"

    async def body() -> Any:
        await page.open(f"<body>{html}")
        first = await page.look()
        await page.script("scrollTo(0, 1e6)")
        return first, await page.look()

    first, second = asyncio.run(body())
    assert 50 < len(first.elements) <= 3000
    assert first.elements[1].name == "b0"
    assert list(first.notes) == ["the page has more elements than are listed"]
    shown = [one for one in second.elements if "offscreen" not in one.states]
    assert len(shown) > 10


def test_text_is_bounded(page: Page) -> None:
    assert (
        max(len(one.name) for one in listed(page, "<button>" + "long " * 1000 + "</button><p>" + "x" * 10_000)) <= 200
    )


def test_the_parts_that_are_not_asked_for_are_not_made(page: Page) -> None:
    async def body() -> Any:
        await page.open("<title>Named</title><body style='margin:0;background:#ff0000'>x")
        return await page.screen.look(Parts(True, False)), await page.screen.look(Parts(False, True))

    image, tree = asyncio.run(body())
    assert image.elements is None
    assert tree.screenshot is None
    assert image.screenshot.shape == (600, 800, 3)
    assert image.screenshot.dtype == np.uint8
    assert image.screenshot[-1, -1].tolist() == [255, 0, 0]
    assert [(pane.title, pane.url, pane.active) for pane in image.panes] == [("Named", "http://page.test/", True)]
    assert image.url == "http://page.test/"
