"""A tab of chromium as a screen.

Beyond `Screen`, for scenarios: `serve` answers requests to a host in memory, `allow` lets pages reach real servers,
`visit` opens an address, `evaluate` runs a script in the page. Everything lives on the shared loop; each method may be
called from any.

Not covered: sound, and what chromium shows outside of a page.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import on_shared
from claw_envs.core.task import Task
from claw_envs.gui.acts import ButtonDown, HoverElement, KeyDown, KeyUp, Move, ScreenAct, Wait
from claw_envs.gui.browser.acting import perform
from claw_envs.gui.browser.errors import GoneError, HungError, PageError, UnansweredError
from claw_envs.gui.browser.executable import find_chromium
from claw_envs.gui.browser.magnify import magnification
from claw_envs.gui.browser.navigation import open_address
from claw_envs.gui.browser.network import Handler, origin_of
from claw_envs.gui.browser.pool import shared_pool
from claw_envs.gui.browser.session import Session
from claw_envs.gui.browser.settle import settle
from claw_envs.gui.browser.tree import Seen, seen
from claw_envs.gui.screen import Pane, Parts, View

_VISIT_TIMEOUT = 60.0
_LOOK_TRIES = 3
_AT_ONCE = (Move, HoverElement, ButtonDown, KeyDown, KeyUp)
"""Acts that often change nothing."""
_T = TypeVar("_T")


class BrowserScreen:
    """A browser for one episode at a time; see `claw_envs.gui.screen.Screen`."""

    def __init__(self, *, size: tuple[int, int] = (1280, 720), executable: str | None = None) -> None:
        """
        Args:
            size: width and height of a page in pixels.
            executable: a chromium, see `claw_envs.gui.browser.executable`.

        Raises:
            UserError: if there is no chromium or the size is none.
        """
        width, height = size
        if not (100 <= width <= 7680 and 100 <= height <= 4320):
            raise UserError(f"size must be between 100x100 and 7680x4320, got {width}x{height}")
        self.size = (int(width), int(height))
        self._executable = find_chromium(executable)
        self._session: Session | None = None

    # --- Screen -------------------------------------------------------------------------------------------------

    async def open(self, task: Task, *, page: tuple[int, int] | None = None) -> None:
        """A fresh context with an empty tab; see `Screen.open`. The task is not looked at.

        Args:
            page: width and height that pages were made for; they are magnified as far as so much stays in sight.
        """
        await on_shared(self._open(1.0 if page is None else magnification(self.size, page)))

    async def do(self, act: ScreenAct, *, timeout: float) -> str | None:
        """See `Screen.do`."""
        return await on_shared(self._do(act, timeout))

    async def look(self, parts: Parts) -> View:
        """See `Screen.look`."""
        return await on_shared(self._look(parts))

    async def close(self) -> None:
        """See `Screen.close`."""
        await on_shared(self._close())

    # --- for scenarios ------------------------------------------------------------------------------------------

    async def serve(self, host: str, handler: Handler) -> None:
        """Answer this episode's requests to `http://<host>/…` with `handler`, which runs on the shared loop."""
        self._opened.network.serve(host, handler)

    async def allow(self, *origins: str) -> None:
        """Let this episode's pages reach real servers, as `http://127.0.0.1:8080`.

        Raises:
            UserError: if one is no http address.
        """
        for origin in origins:
            if origin_of(origin) is None:
                raise UserError(f"{origin!r} is no address of a server, as http://127.0.0.1:8080 is")
        self._opened.network.allow(*origins)

    async def visit(self, url: str) -> None:
        """Open an address in the current tab.

        Raises:
            InfrastructureError: if it cannot be opened.
        """
        await on_shared(self._visit(url))

    async def evaluate(self, script: str, argument: Any = None, timeout: float = 10.0) -> Any:
        """The value of a script in the main frame of the current tab: an expression, or a function of `argument`.

        Raises:
            PageError: if it throws; UnansweredError, which is one, if it does not end in time: such a page is
                interrupted.
            InfrastructureError: if the browser is lost.
        """
        return await on_shared(self._evaluate(script, argument, timeout))

    # --- on the shared loop -------------------------------------------------------------------------------------

    @property
    def _opened(self) -> Session:
        if self._session is None:
            raise InfrastructureError("the browser's screen is not open")
        return self._session

    async def _open(self, scale: float) -> None:
        await self._close()
        self._session = await shared_pool().lease(self._executable, self.size, scale)

    async def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            shared_pool().give_back(session)

    async def _do(self, act: ScreenAct, timeout: float) -> str | None:
        if isinstance(act, Wait):
            await asyncio.sleep(min(max(act.seconds, 0.0), timeout))
            return None
        session = self._opened

        async def acted() -> str | None:
            error = await perform(session, act)
            if error is None:
                await settle(session, patient=not isinstance(act, _AT_ONCE))
            return error

        try:
            async with asyncio.timeout(timeout):
                return await self._guarded(acted())
        except TimeoutError:
            session.notes.add(f"the page was still busy after {timeout:g} s")
            await session.mend()
            return None

    async def _look(self, parts: Parts) -> View:
        session = self._opened
        for _ in range(_LOOK_TRIES):
            found = await self._guarded(self._seen(session, parts))
            if found is not None:
                break
        else:
            raise InfrastructureError("no page of the browser can be looked at")
        image, page = found
        session.tab.title, session.next_id = page.title, page.next_id
        if page.full:
            session.notes.add("the page has more elements than are listed")
        panes = [
            Pane(title=tab.title, url=tab.page.url, active=index == session.active)
            for index, tab in enumerate(session.tabs)
        ]
        return View(
            screenshot=image,
            elements=page.elements,
            url=session.tab.page.url,
            panes=panes,
            focused=page.focused,
            notes=session.notes.take(),
        )

    async def _seen(self, session: Session, parts: Parts) -> tuple[NDArray[np.uint8] | None, Seen]:
        tab = session.tab
        found = seen(tab, first_id=session.next_id, tree=parts.axtree, scale=session.scale)
        if not parts.screenshot:
            return None, await found
        # one after the other is as fast, as one thread of the page's process does both, and leaves nothing behind
        page = await found
        return await tab.screenshot(session.scale), page

    async def _visit(self, url: str) -> None:
        from playwright.async_api import Error

        session = self._opened
        try:
            async with asyncio.timeout(_VISIT_TIMEOUT):
                error = await open_address(session, url)
                await session.tab.page.wait_for_load_state("load", timeout=0)
                await settle(session, patient=False)
        except (Error, GoneError, TimeoutError):
            error = "the browser was lost" if session.engine.lost else "it does not answer"
        if session.network.fault is not None:
            raise session.network.fault
        if error is not None:
            raise InfrastructureError(f"{url} cannot be visited: {error}")

    async def _evaluate(self, script: str, argument: Any, timeout: float) -> Any:
        from playwright.async_api import Error

        session = self._opened
        try:
            async with asyncio.timeout(timeout):
                return await session.tab.page.evaluate(script, argument)
        except TimeoutError:
            await session.mend()
            raise UnansweredError(f"the page did not answer within {timeout:g} s") from None
        except (Error, GoneError) as error:
            if session.engine.lost:
                raise InfrastructureError("the browser was lost") from None
            raise PageError(str(error) or "there is no page") from None

    async def _guarded(self, work: Coroutine[Any, Any, _T]) -> _T | None:
        """What `work` gives; None where the page hung, crashed or was closed meanwhile, and was seen to.

        Raises:
            InfrastructureError: if the browser is lost.
        """
        from playwright.async_api import Error

        session = self._opened
        try:
            result = await work
        except (Error, GoneError, HungError):
            await session.mend()
            return None
        if session.network.fault is not None:
            raise session.network.fault
        return result
