"""What pages may reach: hosts that are answered in memory, and servers that a task names. Everything else is refused.

A request is answered by us or not at all, as the browser itself has no network (`wall`). Allowed servers are asked by
Playwright's own client, which shares the episode's cookies.

Not covered: WebSockets, server-sent events and other streams, also of allowed servers; redirects that keep the method
of a form; hosts over https for `serve`.
"""

import asyncio
import contextlib
import html
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from claw_envs.gui.browser.notes import Notes, shortened

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Route

HANDLER_TIMEOUT = 30.0
"""Seconds in which a host or a server has to answer."""
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_HOPS = 10


class Request(NamedTuple):
    """A request of a page to a served host."""

    method: str
    path: str
    """Decoded, from the first slash."""
    query: Mapping[str, str]
    """Of a name that occurs more than once, the last value."""
    headers: Mapping[str, str]
    """With names in lower case; cookies among them."""
    body: bytes


class Response(NamedTuple):
    """What a page gets."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""


Handler = Callable[[Request], Awaitable[Response]]


def origin_of(url: str) -> str | None:
    """Scheme, host and port of an http address, as in `http://127.0.0.1:8080`; None of any other address."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    standard = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{parts.hostname.lower()}" + ("" if port in (None, standard) else f":{port}")


class Network:
    """What the pages of one episode reach. Use on the shared loop."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._handlers: dict[str, Handler] = {}
        self._allowed: set[str] = set()
        self._open = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.fault: BaseException | None = None
        """What a handler raised: a bug of the task's server, raised again by the next call of the screen."""

    async def attach(self, context: "BrowserContext") -> None:
        """Answer all requests of a context that has no page yet."""
        await context.route("**/*", self._answer)

    def serve(self, host: str, handler: Handler) -> None:
        """Answer requests to `http://<host>/` with `handler`."""
        self._handlers[f"http://{host.lower()}"] = handler

    def allow(self, *origins: str) -> None:
        """Let pages reach real servers."""
        self._allowed.update(origin for origin in map(origin_of, origins) if origin)

    def permits(self, url: str) -> bool:
        """Whether a page may have this address."""
        return url == "about:blank" or self._reaches(origin_of(url))

    def _reaches(self, origin: str | None) -> bool:
        return origin in self._handlers or origin in self._allowed

    @property
    def busy(self) -> bool:
        """Whether a request waits for its answer."""
        return self._open > 0

    async def idle(self) -> None:
        """Wait until no request waits for its answer."""
        await self._idle.wait()

    async def _answer(self, route: "Route") -> None:
        from playwright.async_api import Error

        self._open += 1
        self._idle.clear()
        try:
            async with asyncio.timeout(HANDLER_TIMEOUT):
                await self._answer_one(route)
        except Error:
            pass  # the page that asked is gone
        except TimeoutError:
            await _refuse(route, "timedout")
        finally:
            self._open -= 1
            if not self._open:
                self._idle.set()

    async def _answer_one(self, route: "Route") -> None:
        url, request = route.request.url, route.request
        origin = origin_of(url)
        if origin in self._allowed:
            answer = await route.fetch(max_redirects=0, timeout=HANDLER_TIMEOUT * 1000)
            location = answer.headers.get("location")
            if answer.status in _REDIRECTS and location and request.is_navigation_request():
                await _send_on(route, urljoin(url, location), {})
            else:
                await route.fulfill(response=answer)
            return
        handler = self._handlers.get(origin or "")
        if handler is None:
            if request.is_navigation_request():
                self._notes.add(f"{shortened(url)} cannot be reached from here")
            await _refuse(route, "addressunreachable")
            return
        body = request.post_data_buffer or b""
        await self._serve(route, handler, Request(request.method, *_path(url), dict(request.headers), body))

    async def _serve(self, route: "Route", handler: Handler, request: Request) -> None:
        url = route.request.url
        for _ in range(_MOST_HOPS):
            response = await self._asked(handler, request)
            location = next((value for name, value in response.headers.items() if name.lower() == "location"), None)
            if response.status not in _REDIRECTS or location is None:
                await route.fulfill(status=response.status, headers=dict(response.headers), body=response.body)
                return
            url = urljoin(url, location)
            if route.request.is_navigation_request():
                await _send_on(route, url, response.headers)
                return
            target = self._handlers.get(origin_of(url) or "")
            if target is None:
                break
            kept = response.status in (307, 308)
            method, body = (request.method, request.body) if kept else ("GET", b"")
            handler, request = target, Request(method, *_path(url), request.headers, body)
        await _refuse(route, "failed")

    async def _asked(self, handler: Handler, request: Request) -> Response:
        try:
            return await handler(request)
        except Exception as error:
            self.fault = error
            return Response(500, {"content-type": "text/plain"}, b"the server failed")


def _path(url: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(url)
    return unquote(parts.path) or "/", dict(parse_qsl(parts.query, keep_blank_values=True))


async def _send_on(route: "Route", url: str, headers: Mapping[str, str]) -> None:
    """A page that goes on to `url` at once: chromium would ask for the target of a real redirect behind our back."""
    target = html.escape(url, quote=True)
    script = json.dumps(url).replace("<", "\\u003c")
    body = f'<script>location.replace({script})</script><noscript><a href="{target}">{target}</a></noscript>'
    kept = {name: value for name, value in headers.items() if name.lower() == "set-cookie"}
    await route.fulfill(status=200, headers={**kept, "content-type": "text/html; charset=utf-8"}, body=body)


async def _refuse(route: "Route", reason: str) -> None:
    from playwright.async_api import Error

    with contextlib.suppress(Error):  # answered already, or the page is gone
        await route.abort(reason)
