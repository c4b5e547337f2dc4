"""Tabs of a browser on the machine, through its debugging port: a stand-in that answers as Chrome does."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiohttp import web

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui.osworld.place import Place
from claw_envs.gui.osworld.setup import browser
from claw_envs.gui.osworld.setup.browser import close_tabs, open_tabs


class Chrome:
    """Knows its tabs."""

    def __init__(self, *urls: str) -> None:
        self.tabs = {str(number): url for number, url in enumerate(urls)}
        self.asked: list[str] = []
        self._made = 0

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/json/version", self._version)
        app.router.add_get("/json/list", self._list)
        app.router.add_put("/json/new", self._new)
        app.router.add_get("/json/close/{id}", self._close)
        app.router.add_get("/devtools/page/{id}", self._page)
        return app

    async def _version(self, request: web.Request) -> web.Response:
        return web.json_response({})

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response(
            [self._tab(number) for number in self.tabs] + [{"type": "worker", "id": "w", "url": ""}]
        )

    async def _new(self, request: web.Request) -> web.Response:
        self._made += 1
        number = f"new{self._made}"
        self.tabs[number] = request.rel_url.raw_query_string
        return web.json_response(self._tab(number))

    async def _close(self, request: web.Request) -> web.Response:
        del self.tabs[request.match_info["id"]]
        return web.Response(text="Target is closing")

    async def _page(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.asked.append((await socket.receive_json())["method"])
        await socket.send_json({"id": 1, "result": {}})
        return socket

    def _tab(self, number: str) -> dict[str, Any]:
        address = f"ws://localhost:1337/devtools/page/{number}"  # as it counts on the machine
        return {"type": "page", "id": number, "url": self.tabs[number], "webSocketDebuggerUrl": address}


def with_browser(chrome: Chrome, body: Callable[[Place], Any], task: Task, folder: Path) -> None:
    async def main() -> None:
        runner = web.AppRunner(chrome.app())
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            machine = cast(Any, SimpleNamespace(size=(1, 1)))
            await body(Place(machine, task, folder, browser=f"http://127.0.0.1:{runner.addresses[0][1]}"))
        finally:
            await runner.cleanup()

    asyncio.run(main())


def test_tabs_are_opened_in_place_of_the_first(make_task: Callable[..., Task], tmp_path: Path) -> None:
    chrome = Chrome("chrome://newtab/")
    urls = ["https://a.example/?q=x y", "https://b.example/"]
    with_browser(chrome, lambda place: open_tabs(place, urls), make_task(), tmp_path)
    assert list(chrome.tabs.values()) == ["https://a.example/?q=x%20y", "https://b.example/"]
    assert chrome.asked == ["Runtime.evaluate"] * 2


def test_tabs_are_closed_by_what_they_show(make_task: Callable[..., Task], tmp_path: Path) -> None:
    chrome = Chrome("https://www.a.example/", "https://b.example/x", "https://a.example")
    urls = ["https://a.example", "https://none.example"]
    with_browser(chrome, lambda place: close_tabs(place, urls), make_task(), tmp_path)
    assert list(chrome.tabs.values()) == ["https://b.example/x", "https://a.example"]


def test_a_port_where_no_browser_comes_up(
    make_task: Callable[..., Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "_START_TIMEOUT", 0.1)
    place = Place(cast(Any, None), make_task(), tmp_path, browser="http://127.0.0.1:9")
    with pytest.raises(InfrastructureError, match="no browser answers"):
        asyncio.run(open_tabs(place, ["x"]))
    with pytest.raises(UserError, match="does not pass on"):
        asyncio.run(open_tabs(place._replace(browser=None), ["x"]))
