"""Whatever a page does by itself, the next look is of a page that answers, and says what happened."""

import asyncio
import time
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.loop import on_shared
from claw_envs.gui.acts import Back, Click, ClickElement, CloseTab, Goto, Hotkey, NewTab, Reload, SwitchTab, Type
from claw_envs.gui.browser import PageError, Response, tab
from claw_envs.gui.screen import Parts, View
from tests.claw_envs.gui.browser.conftest import HOME, Page


def after(page: Page, html: str, **pages: str) -> View:
    """What is seen after the click on the button of a page."""

    async def body() -> View:
        await page.open(html, {f"/{name}": text for name, text in pages.items()})
        assert await page.do(ClickElement(await page.id("go"))) is None
        return await page.look()

    return asyncio.run(body())


DIALOGS = [
    ("alert('hello')", 'a dialog said "hello" and was closed', "undefined"),
    ("confirm('sure?')", 'a dialog said "sure?" and was answered with OK', "true"),
    ("prompt('who?', 'me')", 'a dialog said "who?" and was answered with what it suggested', "me"),
]


@pytest.mark.parametrize(("call", "note", "answer"), DIALOGS)
def test_a_dialog_is_answered(page: Page, call: str, note: str, answer: str) -> None:
    view = after(page, f'<button onclick="document.title = {call}">go</button>')
    assert list(view.notes) == [note]
    assert view.panes[0].title == answer


def test_notes_are_told_once_and_are_bounded(page: Page) -> None:
    view = after(page, "<button onclick=\"for (let i = 0; i < 40; i++) alert(i + 'x'.repeat(1e6))\">go</button>")
    assert len(view.notes) == 13
    assert view.notes[-1] == "and 28 more such things happened"
    assert max(map(len, view.notes)) < 300
    assert list(asyncio.run(page.look()).notes) == []


def test_leaving_a_page_that_asks_to_stay(page: Page) -> None:
    async def body() -> Any:
        await page.open("<input autofocus><script>onbeforeunload = (e) => e.preventDefault()</script>", {"/two": "two"})
        await page.do(Click(50, 10))
        await page.do(Type("x"))
        error = await page.do(Goto(f"{HOME}two"))
        return error, await page.look()

    error, view = asyncio.run(body())
    assert error is None
    assert view.url == f"{HOME}two"
    assert list(view.notes) == ["the page asked whether to leave it; it was left"]


def test_a_download_is_refused(page: Page) -> None:
    view = after(page, "<a download=report.txt href='data:text/plain,hi'>go</a>")
    assert list(view.notes) == ["the download of report.txt was refused"]
    assert view.url == HOME


def test_an_answer_that_is_a_download_is_refused(page: Page) -> None:
    async def body() -> View:
        attached = Response(200, {"content-disposition": "attachment; filename=a.zip"}, b"zip")
        await page.open("<a href=/file>go</a>", {"/file": attached})
        await page.do(ClickElement(await page.id("go")))
        return await page.look()

    view = asyncio.run(body())
    assert list(view.notes) == ["the download of a.zip was refused"]
    assert [element.name for element in view.elements or ()] == ["go"]


def test_a_page_that_asks_for_a_file_gets_none(page: Page) -> None:
    async def body() -> list[str]:
        await page.open("<input type=file aria-label=go>")
        await page.do(ClickElement(await page.id("go")))
        while not (notes := (await page.look()).notes):
            pass
        return list(notes)

    notes = asyncio.run(asyncio.wait_for(body(), 60))
    assert notes == ["the page asked for a file; there is none to choose"]


def test_printing_is_nothing(page: Page) -> None:
    view = after(page, "<button onclick=\"print(); document.title = 'on'\">go</button>")
    assert view.panes[0].title == "on"


def test_a_link_to_a_new_tab_brings_it_to_the_front(page: Page) -> None:
    view = after(page, "<a target=_blank href=/two>go</a>", two="<title>two</title>")
    assert [(pane.url, pane.active) for pane in view.panes] == [(HOME, False), (f"{HOME}two", True)]
    assert list(view.notes) == ["tab 1 opened"]


def test_a_flood_of_windows_is_bounded(page: Page) -> None:
    view = after(page, "<button onclick=\"for (let i = 0; i < 30; i++) window.open('/two')\">go</button>", two="two")
    assert len(view.panes) == 8
    assert any("there are 8 already" in note for note in view.notes)


def test_tabs_are_opened_changed_and_closed(page: Page) -> None:
    async def body() -> Any:
        await page.open("one", {"/two": "two"})
        errors = [await page.do(act) for act in (NewTab(f"{HOME}two"), SwitchTab(0), SwitchTab(5), CloseTab())]
        return errors, await page.look()

    errors, view = asyncio.run(body())
    assert errors == [None, None, "there is no tab 5: there are 2, counted from 0", None]
    assert [(pane.url, pane.active) for pane in view.panes] == [(f"{HOME}two", True)]


def test_where_the_last_tab_is_closed_an_empty_one_takes_its_place(page: Page) -> None:
    async def body() -> View:
        await page.open("one")
        await page.do(CloseTab())
        return await page.look()

    view = asyncio.run(body())
    assert view.url == "about:blank"
    assert list(view.notes) == ["the last tab was closed; an empty one took its place"]


def test_a_window_that_closes_itself(page: Page) -> None:
    async def body() -> View:
        await page.open(
            "<button onclick=\"window.open('/two')\">go</button>", {"/two": "<button onclick=window.close()>x</button>"}
        )
        await page.do(ClickElement(await page.id("go")))
        await page.do(ClickElement(await page.id("x")))
        return await page.look()

    assert [pane.url for pane in asyncio.run(body()).panes] == [HOME]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages count as hung sooner, as tests wait for it."""
    monkeypatch.setattr(tab, "HUNG_AFTER", 2.0)
    monkeypatch.setattr("claw_envs.gui.browser.acting.HUNG_AFTER", 2.0)


STOPPED = "a script of the page ran for too long and was stopped"


@pytest.mark.usefixtures("impatient")
def test_a_script_that_runs_for_ever_is_stopped_and_its_page_goes_on(page: Page) -> None:
    view = after(page, '<button onclick="while (true);">go</button>')
    assert list(view.notes) == [STOPPED]
    assert [element.name for element in view.elements or ()] == ["go"]


@pytest.mark.usefixtures("impatient")
def test_dialogs_without_end_end_with_their_script_or_their_page(page: Page) -> None:
    view = after(page, '<button onclick="while (true) alert(1);">go</button>')
    assert view.notes[0] == 'a dialog said "1" and was closed'
    assert STOPPED in view.notes or f"the page {HOME} no longer answered and was closed" in view.notes
    assert asyncio.run(page.do(Goto(HOME))) is None


@pytest.mark.usefixtures("impatient")
def test_a_page_that_never_answers_is_closed_and_the_episode_goes_on(page: Page) -> None:
    async def body() -> Any:
        await page.open("<button onclick='setInterval(() => { while (true); }, 1)'>go</button>", {"/two": "two"})
        await page.do(ClickElement(await page.id("go")))
        view = await page.look()
        return view, await page.do(Goto(f"{HOME}two")), await page.look()

    view, error, later = asyncio.run(body())
    assert view.url == "about:blank"
    assert f"the page {HOME} no longer answered and was closed" in view.notes
    assert error is None
    assert [element.name for element in later.elements] == ["two"]


def test_a_script_of_a_scenario_has_a_deadline(page: Page) -> None:
    async def body() -> Any:
        await page.open("still")
        with pytest.raises(PageError, match=r"did not answer within 0\.5 s"):
            await page.screen.evaluate("() => { while (true); }", timeout=0.5)
        return await page.look()

    view = asyncio.run(body())
    assert list(view.notes) == [STOPPED]
    assert view.elements[0].name == "still"


def test_a_script_that_throws_is_an_error_of_the_page(page: Page) -> None:
    async def body() -> Any:
        await page.open("x")
        with pytest.raises(PageError, match="nothing"):
            await page.script("() => { throw new Error('nothing') }")
        with pytest.raises(PageError):
            await page.script("() => missing.name")
        return await page.script("(a) => a.b + 1", {"b": 2})

    assert asyncio.run(body()) == 3


def test_a_page_that_crashes_makes_room(page: Page) -> None:
    async def body() -> Any:
        await page.open("x", {"/two": "two"})
        await on_shared(_crash(page.screen._session))
        view = await page.look()
        return view, await page.do(Goto(f"{HOME}two")), await page.look()

    view, error, later = asyncio.run(body())
    assert f"the page {HOME} crashed" in view.notes
    assert view.url == "about:blank"
    assert error is None
    assert [element.name for element in later.elements] == ["two"]


async def _crash(session: Any) -> None:
    crashed = asyncio.Event()
    session.tab.page.once("crash", lambda _: crashed.set())
    cdp = await session.tab.cdp()
    sent = asyncio.ensure_future(cdp.send("Page.crash"))
    await crashed.wait()
    sent.cancel()


def test_pages_that_go_on_and_on_are_looked_at_all_the_same(page: Page) -> None:
    async def body() -> View:
        await page.open("<p>turn<script>setTimeout(() => { location.href = '/' }, 100)</script>")
        for _ in range(5):
            view = await page.screen.look(Parts(True, True))
        return view

    assert asyncio.run(body()).url == HOME


def test_history(page: Page) -> None:
    async def body() -> Any:
        await page.open("<a href=/two>go</a>", {"/two": "two"})
        await page.do(ClickElement(await page.id("go")))
        urls = []
        for act in (Back(), Hotkey(("alt", "right")), Reload(), Back(), Back()):
            assert await page.do(act) is None
            urls.append((await page.look()).url)
        return urls, len([one for one in page.asked if one.path == "/two"])

    urls, asked = asyncio.run(body())
    assert urls == [f"{HOME}", f"{HOME}two", f"{HOME}two", HOME, "about:blank"]
    assert asked == 3


def test_a_page_that_is_still_loading_is_not_waited_for_longer_than_an_act_may_take(page: Page) -> None:
    async def body() -> Any:
        never = asyncio.Event()

        async def slow(request: Any) -> Response:
            await never.wait()
            return Response()

        await page.open("<a href=http://slow.test/>go</a>")
        await page.screen.serve("slow.test", slow)
        go = await page.id("go")
        begun = time.monotonic()
        await page.do(ClickElement(go), timeout=1.0)
        assert time.monotonic() - begun < 20
        return await page.look()

    view = asyncio.run(body())
    assert list(view.notes) == ["the page was still busy after 1 s"]
    assert view.elements[0].name == "go"


def test_a_screen_that_is_not_open_says_so(page: Page) -> None:
    with pytest.raises(InfrastructureError, match="not open"):
        asyncio.run(page.look())
