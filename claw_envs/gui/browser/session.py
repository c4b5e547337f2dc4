"""All that one episode has in a browser: a context of its own, its tabs, its network, what happens in it by itself.

A dialog is answered at once (OK, or a prompt's own suggestion), a download is refused, a file chooser stays empty, a
new tab comes to the front; each becomes a note. A page that hangs is interrupted; one that is lost makes room for an
empty one.

Not covered: what chromium shows outside of a page, as the list of a `<select>`, which no screenshot has.
"""

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from claw_envs.core.errors import InfrastructureError
from claw_envs.gui.browser.engine import Engine
from claw_envs.gui.browser.errors import GoneError
from claw_envs.gui.browser.network import Network
from claw_envs.gui.browser.notes import Notes, shortened
from claw_envs.gui.browser.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, Download, FileChooser, Page

MOST_TABS = 8
_OPEN_TIMEOUT, _CLOSE_TIMEOUT, _ARRIVAL_TIMEOUT = 30.0, 10.0, 3.0


class Session:
    """Made ahead by the pool, used by one episode, closed after it. Use on the shared loop."""

    def __init__(self, engine: Engine, context: "BrowserContext", scale: float = 1.0) -> None:
        """
        Args:
            scale: pixels of the screen that a pixel of a page takes.
        """
        self.engine, self.context, self.scale = engine, context, scale
        self.notes = Notes()
        self.network = Network(self.notes)
        self.tabs: list[Tab] = []
        self.active = 0
        self.pointer = (0.0, 0.0)
        self.held: set[str] = set()
        """Keys that are held from one act to the next."""
        self.clipboard = ""
        self.next_id = 1
        self._expected = 0
        self._arrived = asyncio.Event()
        self._arrived.set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False

    @classmethod
    async def make(cls, engine: Engine, size: tuple[int, int], scale: float = 1.0) -> "Session":
        """A context with one empty tab, ready to be used.

        Args:
            size: of the screen, in its pixels.
            scale: pixels of the screen that a pixel of a page takes.

        Raises:
            InfrastructureError: if the browser does not make one.
        """
        from playwright.async_api import Error

        width, height = (round(length / scale) for length in size)
        engine.contexts += 1
        context: BrowserContext | None = None
        try:
            async with asyncio.timeout(_OPEN_TIMEOUT):
                context = await engine.browser.new_context(
                    viewport={"width": width, "height": height},
                    accept_downloads=False,
                    service_workers="block",
                    locale="en-US",
                    timezone_id="UTC",
                )
                session = cls(engine, context, scale)
                await session.network.attach(context)
                context.on("dialog", session._dialog)
                context.on("page", session._page)
                await context.new_page()
                await session.tab.cdp()
                return session
        except BaseException as error:
            engine.contexts -= 1
            if context is not None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(_quietly(context.close()), _OPEN_TIMEOUT)
            if isinstance(error, Error | TimeoutError):
                raise InfrastructureError(f"the browser makes no new context: {error}") from None
            raise

    @property
    def tab(self) -> Tab:
        """The active tab.

        Raises:
            GoneError: if pages have closed the last one.
        """
        if not self.tabs:
            raise GoneError
        return self.tabs[self.active]

    @property
    def pending(self) -> bool:
        """Whether a window is about to become a tab, or a request waits for its answer."""
        return self.network.busy or not self._arrived.is_set() or any(tab.waiting for tab in self.tabs)

    # --- what happens by itself ---------------------------------------------------------------------------------

    def _later(self, coroutine: Any) -> None:
        task = asyncio.ensure_future(_quietly(coroutine))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _expect(self) -> None:
        """A page opened a window."""
        self._expected += 1
        self._arrived.clear()

    async def arrived(self) -> None:
        """Wait until the windows that pages opened are tabs; one that chromium refuses never becomes one."""
        try:
            async with asyncio.timeout(_ARRIVAL_TIMEOUT):
                await self._arrived.wait()
        except TimeoutError:
            self._expected = 0
            self._arrived.set()

    def _page(self, page: "Page") -> None:
        if self._closing:
            return
        self._expected = max(self._expected - 1, 0)
        if not self._expected:
            self._arrived.set()
        if len(self.tabs) >= MOST_TABS:
            self.notes.add(f"a new tab was closed at once: there are {MOST_TABS} already")
            self._later(page.close())
            return
        page.on("download", self._download)
        page.on("filechooser", self._chooser)
        page.on("crash", lambda page: self.notes.add(f"the page {shortened(page.url)} crashed"))
        page.on("close", self._closed)
        self.tabs.append(Tab(page, self._expect))
        self.active = len(self.tabs) - 1
        if len(self.tabs) > 1:
            self.notes.add(f"tab {self.active} opened")

    def _closed(self, page: "Page") -> None:
        index = next((index for index, tab in enumerate(self.tabs) if tab.page == page), None)
        if index is None or self._closing:
            return
        del self.tabs[index]
        if index < self.active or self.active == len(self.tabs):
            self.active = max(self.active - 1, 0)

    def _dialog(self, dialog: "Dialog") -> None:
        if dialog.type == "beforeunload":
            self.notes.add("the page asked whether to leave it; it was left")
        else:
            answers = {"alert": "closed", "confirm": "answered with OK", "prompt": "answered with what it suggested"}
            said = f'a dialog said "{shortened(dialog.message)}"'
            self.notes.add(f"{said} and was {answers.get(dialog.type, 'closed')}")
        self._later(dialog.accept(dialog.default_value) if dialog.type == "prompt" else dialog.accept())

    def _download(self, download: "Download") -> None:
        self.notes.add(f"the download of {shortened(download.suggested_filename)} was refused")
        self._later(download.cancel())
        self.tab._settled.set()

    def _chooser(self, chooser: "FileChooser") -> None:
        self.notes.add("the page asked for a file; there is none to choose")

    # --- tabs ---------------------------------------------------------------------------------------------------

    async def mend(self) -> None:
        """See that there is an active tab which answers, whatever the pages did.

        Raises:
            InfrastructureError: if the browser is lost.
        """
        from playwright.async_api import Error

        for _ in range(MOST_TABS + 1):
            if self.engine.lost:
                raise InfrastructureError("the browser was lost")
            try:
                if not self.tabs:
                    await self._new_tab()
                await self.tab.stop_loading()
                if await self.tab.answers():
                    return
                if await self.tab.interrupt() or await self.tab.interrupt():
                    self.notes.add("a script of the page ran for too long and was stopped")
                    return
            except (Error, TimeoutError):
                pass
            await self._drop_tab()
        raise InfrastructureError("the browser makes no page that answers")

    async def _new_tab(self) -> None:
        """An empty tab, where the last one is gone."""
        self.notes.add("the last tab was closed; an empty one took its place")
        async with asyncio.timeout(_OPEN_TIMEOUT):
            await self.context.new_page()
            await self.tab.cdp()

    async def _drop_tab(self) -> None:
        """Close the active tab, whose page is lost."""
        if not self.tabs:
            return
        tab = self.tabs.pop(self.active)
        self.active = max(len(self.tabs) - 1, 0)
        self.notes.add(f"the page {shortened(tab.page.url)} no longer answered and was closed")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                await _quietly(tab.page.close())

    async def close(self) -> None:
        """Give everything back."""
        self._closing = True
        for task in list(self._tasks):
            task.cancel()
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                await _quietly(self.context.close())
        except TimeoutError:
            self.engine.retired = True  # what it still holds goes with the whole browser
        finally:
            self.engine.contexts -= 1


async def _quietly(coroutine: Any) -> None:
    """Await what may fail because its page is gone."""
    from playwright.async_api import Error

    with contextlib.suppress(Error):
        await coroutine
