"""Addresses, history and tabs.

Not covered: addresses that are no page of a server (`file:`, `data:`, `javascript:`, `chrome:`, …).
"""

from typing import TYPE_CHECKING

from claw_envs.gui import acts
from claw_envs.gui.browser.notes import shortened
from claw_envs.gui.browser.session import MOST_TABS, Session

if TYPE_CHECKING:
    from playwright.async_api import Page


async def navigate(session: Session, act: acts.BrowserAct) -> str | None:
    """Carry `act` out; what was wrong with it, in a sentence."""
    page = session.tab.page
    match act:
        case acts.Goto(url):
            return await open_address(session, url)
        case acts.Back():
            return await _history(page, -1)
        case acts.Forward():
            return await _history(page, 1)
        case acts.Reload():
            return await _reload(page)
        case acts.NewTab(url):
            return await _new_tab(session, url)
        case acts.SwitchTab(index):
            return await _switch(session, index)
        case acts.CloseTab():
            await page.close()
    return None


def address_of(text: str) -> str:
    """What an address bar makes of `text`: `http://` comes before a plain host."""
    text = text.strip()
    return text if "://" in text or text.startswith(("about:", "data:", "javascript:")) else f"http://{text}"


async def open_address(session: Session, url: str) -> str | None:
    """Open an address in the active tab; what was wrong with it, in a sentence."""
    from playwright.async_api import Error

    address = address_of(url)
    if not session.network.permits(address):
        return f"{shortened(url)} cannot be opened: it is no address of this task"
    try:
        await session.tab.page.goto(address, wait_until="domcontentloaded", timeout=0)
    except Error as error:
        if session.engine.lost or session.tab.page.is_closed():
            raise
        return f"{shortened(address)} could not be opened: {_reason(error)}"
    return None


def _reason(error: Exception) -> str:
    return shortened(str(error).splitlines()[0].removeprefix("Page.goto: "))


async def _history(page: "Page", step: int) -> str | None:
    await (page.go_back if step < 0 else page.go_forward)(wait_until="domcontentloaded", timeout=0)
    return None


async def _reload(page: "Page") -> str | None:
    await page.reload(wait_until="domcontentloaded", timeout=0)
    return None


async def _new_tab(session: Session, url: str) -> str | None:
    if len(session.tabs) >= MOST_TABS:
        return f"there are {MOST_TABS} tabs already"
    await session.context.new_page()
    return None if url == "about:blank" else await open_address(session, url)


async def _switch(session: Session, index: int) -> str | None:
    if not 0 <= index < len(session.tabs):
        return f"there is no tab {index}: there are {len(session.tabs)}, counted from 0"
    session.active = index
    await session.tab.page.bring_to_front()
    return None
