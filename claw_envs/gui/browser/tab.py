"""One tab: its page, what our scripts find in it, and whether it is loading.

Every call has a deadline, as a page's own script may run for ever, and is made again where the page is left meanwhile.

Not covered: what a tab shows while it waits for another page, of which chromium tells nothing.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from claw_envs.gui.browser.capture import capture
from claw_envs.gui.browser.errors import HungError
from claw_envs.gui.browser.worlds import Inner, Worlds

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page
    from playwright.async_api import Request as PageRequest

_T = TypeVar("_T")
HUNG_AFTER = 8.0
"""Seconds without an answer after which a page counts as hung."""
ANSWER_TIMEOUT = 2.0
"""Seconds for a page that counts as hung to show that it is not."""
NO_FRAME = "No frame"
"""What chromium says of a frame that was taken out of its page."""
_OPENABLE = ("http", "about:", "blob:")
"""Addresses that a window which a page opens may have; chromium refuses others."""

_UNANSWERED = ("Document", "EventSource", "WebSocket", "Ping", "CSPViolationReport", "Prefetch")
"""Kinds of requests that are waited for elsewhere, or that no script waits for."""


class Tab:
    """A tab of one episode. Use on the shared loop."""

    def __init__(self, page: "Page", on_popup: Callable[[], None]) -> None:
        """
        Args:
            on_popup: called as soon as the page opens a window, which becomes a page of the context later.
        """
        self.page = page
        self._on_popup = on_popup
        self.title = ""
        """As of the last look."""
        self._cdp: CDPSession | None = None
        self.worlds = Worlds(self.cdp)
        self.homes: dict[str, Inner] = {}
        """In which frame an element is, by its id, where it is not in the page or one that the page reaches."""
        self._crashed = False
        self._end = asyncio.Event()
        self._settled = asyncio.Event()
        self._settled.set()
        self._asked: set[str] = set()
        """Requests of the page's scripts and parts whose answers have not come to it yet."""
        self._answered = asyncio.Event()
        self._answered.set()
        page.on("request", self._requested)
        page.on("requestfailed", self._failed)
        page.on("framenavigated", self._navigated)
        page.on("domcontentloaded", lambda _: self._settled.set())
        page.on("crash", self._crash)
        page.on("close", self._close)

    @property
    def loading(self) -> bool:
        """Whether the tab is on its way to another page."""
        return not self._settled.is_set()

    async def loaded(self) -> None:
        """Wait until the tab is on no way to another page."""
        await self._settled.wait()

    @property
    def waiting(self) -> bool:
        """Whether the page waits for an answer.

        As of the last call: chromium tells of a request before it answers to a later call of ours.
        """
        return not self._answered.is_set()

    async def answered(self) -> None:
        """Wait until all answers have come to the page."""
        await self._answered.wait()

    def _asks(self, event: dict[str, Any]) -> None:
        if event.get("type") not in _UNANSWERED:
            self._asked.add(event["requestId"])
            self._answered.clear()

    def _has(self, event: dict[str, Any]) -> None:
        self._asked.discard(event["requestId"])
        if not self._asked:
            self._answered.set()

    def _crash(self, _: "Page") -> None:
        self._crashed = True
        self._settled.set()

    def _close(self, _: "Page") -> None:
        self._end.set()
        self._settled.set()

    def _requested(self, request: "PageRequest") -> None:
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self._settled.clear()

    def _failed(self, request: "PageRequest") -> None:
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self._settled.set()

    def _navigated(self, frame: "Frame") -> None:
        if frame == self.page.main_frame:
            self.worlds.forget()
            self.homes.clear()
            self._asked.clear()
            self._answered.set()

    def _opened_window(self, event: dict[str, Any]) -> None:
        if event["url"].startswith(_OPENABLE):
            self._on_popup()

    async def cdp(self) -> "CDPSession":
        """The tab's own session of chromium's protocol."""
        if self._cdp is None:
            self._cdp = await self.page.context.new_cdp_session(self.page)
            self._cdp.on("Page.windowOpen", self._opened_window)
            self._cdp.on("Network.requestWillBeSent", self._asks)
            self._cdp.on("Network.loadingFinished", self._has)
            self._cdp.on("Network.loadingFailed", self._has)
            await self._cdp.send("Page.enable")
            await self._cdp.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})
        return self._cdp

    async def screenshot(self, scale: float = 1.0) -> NDArray[np.uint8]:
        """What the tab shows, of shape (height, width, 3).

        Args:
            scale: pixels of the picture that a pixel of the page takes.

        Raises:
            HungError: if the page does not draw.
        """
        size = self.page.viewport_size
        assert size is not None  # contexts are made with one

        async def once() -> NDArray[np.uint8]:
            return await capture(await self.cdp(), size, scale)

        return await self._persistently(once, HUNG_AFTER)

    async def call(self, function: str, *arguments: Any, frame: str | None = None, timeout: float | None = None) -> Any:
        """The JSON value of a function of our world in a frame (None: in the page).

        Raises:
            HungError: if it does not answer within `timeout` seconds (None: `HUNG_AFTER`).
            PageError: if the function failed, which is a bug of ours or a page that broke what every page has.
        """

        async def once() -> Any:
            return await self.worlds.call(function, arguments, frame)

        return await self._persistently(once, HUNG_AFTER if timeout is None else timeout)

    async def inner(self, element: str, home: Inner | None) -> Inner | None:
        """The frame in an element that the scripts around it do not reach; None where it is gone.

        Raises:
            HungError: if the page does not answer.
        """

        async def once() -> Inner | None:
            return await self.worlds.inner(element, home.frame if home else None)

        return await self._persistently(once, HUNG_AFTER)

    async def _persistently(self, once: Callable[[], Awaitable[_T]], timeout: float) -> _T:
        """What `once` gives; again where the page was left for another one meanwhile."""
        from playwright.async_api import Error

        async with deadline(timeout):
            while True:
                try:
                    return await once()
                except Error as error:
                    if self.gone or NO_FRAME in str(error):
                        raise
                    self.worlds.forget()
                    await self.loaded()

    async def closed(self) -> None:
        """Wait until the page, which said so, has closed itself."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await self._end.wait()

    @property
    def gone(self) -> bool:
        """Whether the tab has no page any more."""
        return self._crashed or self.page.is_closed()

    async def answers(self) -> bool:
        """Whether the page's process does anything at all."""
        try:
            return bool(await self.call("answer", timeout=ANSWER_TIMEOUT))
        except HungError:
            return False

    async def stop_loading(self) -> None:
        """Stay where the tab is: chromium answers nothing about a page that is about to be left."""
        if not self.loading:
            return
        with contextlib.suppress(HungError):
            async with deadline(ANSWER_TIMEOUT):
                await (await self.cdp()).send("Page.stopLoading")
        self._settled.set()

    async def interrupt(self) -> bool:
        """Stop the script that runs for ever; whether the page answers then."""
        try:
            async with deadline(ANSWER_TIMEOUT):
                await (await self.cdp()).send("Runtime.terminateExecution")
        except HungError:
            return False
        return await self.answers()


class deadline:  # noqa: N801 - used as a function
    """`asyncio.timeout` that raises HungError, which is told apart from the end of the caller's own timeout."""

    def __init__(self, seconds: float) -> None:
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        try:
            await self._timeout.__aexit__(*error)
        except TimeoutError:
            raise HungError("the page does not answer") from None
