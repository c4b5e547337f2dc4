"""Tabs of a browser on the machine, through its debugging port.

Not covered: a browser whose port the machine does not pass on. The task itself starts the browser and opens the port.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.osworld.place import Place
from claw_envs.reason import reason

if TYPE_CHECKING:
    import aiohttp

_START_TIMEOUT, _START_PAUSE = 75.0, 0.5
"""Seconds that a browser gets to start, and between looks."""
_LOAD_TIMEOUT = 60.0
"""Seconds for one page; a page that takes longer is left as it is."""
_ANSWER_TIMEOUT = 10.0
_LOADED = 'new Promise(done => document.readyState === "complete" ? done() : addEventListener("load", () => done()))'


async def open_tabs(place: Place, urls: list[str]) -> None:
    """Open a tab for each URL and wait until it has loaded; the tab that was there first is closed."""
    async with _browser(place) as (session, root):
        before = await _tabs(session, root)
        for number, url in enumerate(urls):
            async with session.put(f"{root}/json/new?{quote(url, safe=':/?&=%#')}") as response:
                tab = await response.json(content_type=None)
            await _loaded(session, root, tab)
            if number == 0 and before:
                await _close(session, root, before[0])


async def close_tabs(place: Place, urls: list[str]) -> None:
    """Close the first tab that shows each URL."""
    async with _browser(place) as (session, root):
        for url in urls:
            for tab in await _tabs(session, root):
                if _same(str(tab["url"]), url):
                    await _close(session, root, tab)
                    break


def _same(one: str, other: str) -> bool:
    """Whether two addresses name one page, as far as their host and path tell."""
    first, second = urlsplit(one), urlsplit(other)
    return (first.netloc.removeprefix("www."), first.path.rstrip("/"), first.query) == (
        second.netloc.removeprefix("www."),
        second.path.rstrip("/"),
        second.query,
    )


@asynccontextmanager
async def _browser(place: Place) -> AsyncIterator[tuple["aiohttp.ClientSession", str]]:
    """A connection to the debugging port, once a browser answers there."""
    import aiohttp

    root = place.browser
    if root is None:
        raise UserError(f"task {place.task.id} needs a browser's debugging port, which this machine does not pass on")
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_LOAD_TIMEOUT)) as session:
            await _started(session, root)
            yield session, root
    except (aiohttp.ClientError, ValueError, KeyError) as error:
        raise InfrastructureError(f"the browser's debugging port at {root}: {reason(error)}") from error


async def _started(session: "aiohttp.ClientSession", root: str) -> None:
    import aiohttp

    end = time.monotonic() + _START_TIMEOUT
    while True:
        try:
            async with session.get(f"{root}/json/version", timeout=aiohttp.ClientTimeout(_ANSWER_TIMEOUT)):
                return
        except (aiohttp.ClientError, TimeoutError) as error:  # it is still starting
            if time.monotonic() > end:
                raise InfrastructureError(f"no browser answers at {root} within {_START_TIMEOUT:g} s") from error
        await asyncio.sleep(_START_PAUSE)


async def _tabs(session: "aiohttp.ClientSession", root: str) -> list[dict[str, Any]]:
    async with session.get(f"{root}/json/list") as response:
        found = await response.json(content_type=None)
    return [each for each in found if each["type"] == "page"]


async def _close(session: "aiohttp.ClientSession", root: str, tab: dict[str, Any]) -> None:
    async with session.get(f"{root}/json/close/{tab['id']}"):
        pass


async def _loaded(session: "aiohttp.ClientSession", root: str, tab: dict[str, Any]) -> None:
    """Wait for a page; the address that the browser gives for it counts on the machine, so only its path is taken."""
    path = urlsplit(str(tab["webSocketDebuggerUrl"])).path
    ask = {"id": 1, "method": "Runtime.evaluate", "params": {"expression": _LOADED, "awaitPromise": True}}
    try:
        async with asyncio.timeout(_LOAD_TIMEOUT), session.ws_connect(root.replace("http", "ws", 1) + path) as socket:
            await socket.send_json(ask)
            await socket.receive()
    except TimeoutError:  # as its user would see it: a page that loads for ever
        return
