import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import on_shared, run_sync
from claw_envs.gui.acts import Click, Goto
from claw_envs.gui.browser import BrowserScreen, Response
from claw_envs.gui.browser.engine import Engine
from claw_envs.gui.browser.executable import find_chromium
from claw_envs.gui.browser.pool import BrowserPool
from claw_envs.gui.browser.processes import family, memory
from claw_envs.gui.browser.session import Session
from claw_envs.gui.screen import Parts
from tests.claw_envs.gui.browser.conftest import HOME, TASK, Page


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[BrowserPool]:
    """Browsers of a test's own, which it may end."""
    made = BrowserPool()
    monkeypatch.setattr("claw_envs.gui.browser.screen.shared_pool", lambda: made)
    yield made
    run_sync(made.close())


def session_of(page: Page) -> Session:
    assert page.screen._session is not None
    return page.screen._session


def test_a_screen_is_fresh_each_time(page: Page) -> None:
    async def body() -> Any:
        await page.open("<title>old</title>", {"/x": "y"})
        await page.do(Goto(f"{HOME}x"))
        await page.screen.open(TASK)
        view = await page.look()
        return view.url, view.elements, [pane.title for pane in view.panes], view.notes, await page.do(Goto(HOME))

    url, elements, titles, notes, error = asyncio.run(body())
    assert (url, elements, titles, notes) == ("about:blank", [], [""], [])
    assert "is no address of this task" in error


def test_screens_of_one_process_share_a_browser_and_nothing_else(page: Page) -> None:
    other = Page()

    async def body() -> Any:
        await asyncio.gather(page.open("<title>a</title>"), other.open("<title>b</title>"))
        await page.script("document.cookie = 'a=b'")
        engines = {session_of(one).engine for one in (page, other)}
        return len(engines), await other.script("[document.title, document.cookie]")

    try:
        assert asyncio.run(body()) == (1, ["b", ""])
    finally:
        asyncio.run(other.screen.close())


def test_a_screen_is_used_from_any_loop(page: Page) -> None:
    asyncio.run(page.open("<p>x"))
    assert [element.name for element in asyncio.run(page.elements())] == ["x"]
    asyncio.run(page.screen.close())
    asyncio.run(page.screen.close())


def test_a_lost_browser_is_said_and_the_next_episode_has_another(pool: BrowserPool) -> None:
    page = Page()

    async def body() -> Any:
        await page.open("<p>x")
        first = session_of(page).engine
        for pid, kind in (await on_shared(asyncio.to_thread(family, first._mark))).items():
            if kind == "browser":
                os.kill(pid, signal.SIGKILL)
        with pytest.raises(InfrastructureError, match="browser was lost"):
            await until_lost(page)
        await page.open("<p>again")
        return first is session_of(page).engine, [element.name for element in await page.elements()]

    assert asyncio.run(body()) == (False, ["again"])


async def until_lost(page: Page) -> None:
    while True:
        await page.do(Click(5, 5))


async def quiet(pool: BrowserPool) -> None:
    """Wait until nothing is done in the background any more."""
    while pool._background:
        await asyncio.wait(pool._background)
    for spares in pool._spares.values():
        await asyncio.wait(spares)


def test_beyond_a_number_of_contexts_there_is_another_browser(
    pool: BrowserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("claw_envs.gui.browser.pool.CONTEXTS_PER_BROWSER", 2)
    pages = [Page() for _ in range(3)]

    async def body() -> int:
        for page in pages:
            await page.open("x")
        return len({session_of(page).engine for page in pages})

    assert asyncio.run(body()) == 2


def test_a_browser_that_has_grown_is_closed_with_its_last_context(
    pool: BrowserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("claw_envs.gui.browser.pool.CHECK_EVERY", 1)
    monkeypatch.setattr("claw_envs.gui.browser.pool.RECYCLE_BYTES", 1)
    pages = [Page(), Page()]

    async def body() -> Any:
        for page in pages:
            await page.open("x")
        first = session_of(pages[0]).engine
        await pages[0].screen.close()
        await on_shared(quiet(pool))
        still = await pages[1].script("1 + 1")
        await pages[0].open("y")
        await pages[1].screen.close()
        await on_shared(quiet(pool))
        return still, first.lost, session_of(pages[0]).engine is first, await pages[0].script("2 + 2")

    assert asyncio.run(body()) == (2, True, False, 4)


def test_many_episodes_leave_no_context_behind(pool: BrowserPool) -> None:
    page = Page()

    async def body() -> Any:
        for _ in range(12):
            await page.open("<p>x")
            await page.look()
        engine = session_of(page).engine
        await page.screen.close()

        await on_shared(quiet(pool))
        return len(engine.browser.contexts), engine.contexts

    assert asyncio.run(body()) == (1, 1)  # the spare


KILLED = """
import os, signal
from claw_envs.core.loop import run_sync
from claw_envs.gui.browser import BrowserScreen
screen = BrowserScreen()
run_sync(screen.open(None))
print(screen._session.engine._mark, flush=True)
{end}
"""


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "raise SystemExit(0)"])
def test_a_process_that_ends_leaves_no_browser(end: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED).format(end=end)], capture_output=True, text=True, timeout=120
    )
    mark = ended.stdout.strip()
    assert mark, ended.stderr
    for _ in range(300):
        if not family(mark):
            break
        select_nothing()
    assert family(mark) == {}


def select_nothing() -> None:
    """A tenth of a second: nothing tells of the end of processes that are not our children."""
    signal.sigtimedwait([], 0.1)


def test_memory_is_counted_by_kind(page: Page) -> None:
    async def body() -> dict[str, int]:
        await page.open("x")
        return await session_of(page).engine.memory()

    sizes = asyncio.run(body())
    assert sizes["browser"] > 10 << 20
    assert sizes["renderer"] > 1 << 20
    assert memory({2**22 + 1: "gone"}) == {}


def test_a_chromium_is_found_or_the_way_to_one_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "chromium_headless_shell-1/chrome-linux/headless_shell"
    own.parent.mkdir(parents=True)
    own.touch(mode=0o755)
    monkeypatch.setenv("CLAW_CHROMIUM", str(own))
    assert find_chromium() == str(own)
    assert find_chromium("/bin/sh") == "/bin/sh"
    monkeypatch.delenv("CLAW_CHROMIUM")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert find_chromium() == str(own)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    with pytest.raises(UserError, match="apt install chromium"):
        BrowserScreen()
    with pytest.raises(UserError, match="no program"):
        find_chromium("nothing-there")


def test_a_program_that_is_no_browser_is_our_failure(tmp_path: Path) -> None:
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\necho cannot run >&2\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(InfrastructureError, match="does not start"):
        asyncio.run(BrowserScreen(executable=str(fake)).open(TASK))


@pytest.mark.parametrize("size", [(10, 10), (100_000, 100)])
def test_a_size_that_is_none(size: tuple[int, int]) -> None:
    with pytest.raises(UserError, match="size must be between"):
        BrowserScreen(size=size)


def test_without_playwright_the_way_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    with pytest.raises(UserError, match=r"pip install .claw-envs\[gui\]"):
        run_sync(Engine.launch(find_chromium()))


def test_a_magnified_page_is_seen_and_clicked_in_pixels_of_the_screen() -> None:
    screen = BrowserScreen(size=(800, 600))
    html = "<body style='margin:0;height:2000px'><button style='position:absolute;left:10px;top:120px'>x</button>"

    async def answer(request: Any) -> Response:
        return Response(
            200, {"content-type": "text/html"}, f"{html}<script>onclick=(e)=>at=e.clientX</script>".encode()
        )

    async def body() -> Any:
        await screen.open(TASK, page=(400, 300))
        await screen.serve("small.test", answer)
        await screen.visit("http://small.test/")
        await screen.evaluate("scrollTo(0, 100)")
        view = await screen.look(Parts())
        await screen.do(Click(30, 50), timeout=60)
        return view.screenshot.shape, view.elements[0].box[:2], await screen.evaluate("at")

    try:
        assert asyncio.run(body()) == ((600, 800, 3), (20, 40), 15)
    finally:
        asyncio.run(screen.close())
