"""Pages that try, by every means, to reach what is not theirs: a server on the loopback, files, other episodes."""

import asyncio
import contextlib
import json
import os
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.loop import run_sync
from claw_envs.gui.acts import Act, ClickElement, Goto, Hotkey, NewTab
from claw_envs.gui.browser import BrowserScreen, PageError, Request, Response, engine, wall
from claw_envs.gui.browser.executable import find_chromium
from claw_envs.gui.browser.pool import BrowserPool
from claw_envs.gui.browser.processes import family
from claw_envs.gui.screen import Parts, View

LOCAL_GUARD = "LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,LocalNetworkAccessChecksWebRTC"
TREE = Parts(screenshot=False, axtree=True)


class Loopback:
    """A server on TCP and UDP that keeps what reaches it, and answers HTTP."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        seen = self.seen

        class Answer(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                seen.append(self.request.recv(1000))
                self.request.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\nREAL\n")

        class Datagram(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                seen.append(self.request[0])

        self._tcp = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)
        self._tcp.daemon_threads = True
        self.port = self._tcp.server_address[1]
        self._udp = socketserver.UDPServer(("127.0.0.1", self.port), Datagram)
        for server in (self._tcp, self._udp):
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def flush(self) -> None:
        """Wait until what was sent before has been read."""
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with socket.socket(socket.AF_INET, kind) as ours:
                ours.connect(("127.0.0.1", self.port))
                ours.send(b"ours")
                if kind == socket.SOCK_STREAM:
                    ours.recv(10)
                else:
                    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as again:
                        again.connect(("127.0.0.1", self.port))
                        again.send(b"ours")
                        again.recv(10)

    @property
    def strangers(self) -> list[bytes]:
        """What came from others."""
        self.flush()
        return [data for data in self.seen if data != b"ours"]

    def close(self) -> None:
        for server in (self._tcp, self._udp):
            server.shutdown()
            server.server_close()


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    server = Loopback()
    yield server
    server.close()


@pytest.fixture(scope="module", params=["walled", "flags"])
def pool(request: pytest.FixtureRequest) -> Iterator[BrowserPool]:
    """Browsers behind bubblewrap, and with nothing but flags and routes."""
    try:
        find_chromium()
    except UserError as error:
        pytest.skip(str(error))
    patch = pytest.MonkeyPatch()
    if request.param == "flags":
        patch.setattr(engine, "wall_for", lambda program: wall.Wall((), False))
        # chromium's own guard of local networks must not be what keeps pages in
        flags = [f"{flag},{LOCAL_GUARD}" if flag.startswith("--disable-features") else flag for flag in engine._FLAGS]
        patch.setattr(engine, "_FLAGS", flags)
    elif not wall.wall_for(find_chromium()).words:
        pytest.skip("bubblewrap does not work here")
    made = BrowserPool()
    patch.setattr("claw_envs.gui.browser.screen.shared_pool", lambda: made)
    yield made
    run_sync(made.close())
    patch.undo()


class Hostile:
    """A page of an episode's own host that runs what a test gives it."""

    def __init__(self) -> None:
        self.screen = BrowserScreen()
        self.asked: list[str] = []

    async def open(self, body: str = "", *, to: str | None = None) -> None:
        async def handler(request: Request) -> Response:
            self.asked.append(request.path)
            if to is not None and request.path.startswith("/redirect"):
                return Response(302, {"location": to})
            kind = "text/javascript" if request.path.endswith(".js") else "text/html"
            return Response(200, {"content-type": kind}, body.encode())

        await self.screen.open(None)  # type: ignore[arg-type]
        await self.screen.serve("task.test", handler)
        await self.screen.visit("http://task.test/")

    async def look(self) -> View:
        return await self.screen.look(TREE)

    async def do(self, act: Any) -> str | None:
        return await self.screen.do(act, timeout=20)

    async def text(self) -> str:
        """What the page says; asked again while a refused address replaces it, which takes its script's world away."""
        for _ in range(20):
            with contextlib.suppress(PageError):
                return str(await self.screen.evaluate("document.documentElement.innerText"))
            await self.look()
        raise AssertionError("the page never answered")


@pytest.fixture
def hostile(pool: BrowserPool) -> Iterator[Hostile]:
    page = Hostile()
    yield page
    asyncio.run(page.screen.close())


WAYS = {
    "fetch": "await fetch(HTTP)",
    "fetch without cors": "await fetch(HTTP, {mode: 'no-cors', keepalive: true})",
    "another name": "await fetch(HTTP.replace('127.0.0.1', 'localhost'))",
    "ipv6": "await fetch(HTTP.replace('127.0.0.1', '[::ffff:127.0.0.1]'))",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', HTTP, false); x.send()",
    "image": "await shown('img', {src: HTTP})",
    "script": "await shown('script', {src: HTTP})",
    "style": "await shown('link', {rel: 'stylesheet', href: HTTP})",
    "icon": "await shown('link', {rel: 'icon', href: HTTP})",
    "preconnect": "await shown('link', {rel: 'preconnect', href: HTTP})",
    "dns-prefetch": "await shown('link', {rel: 'dns-prefetch', href: HTTP})",
    "prefetch": "await shown('link', {rel: 'prefetch', href: HTTP})",
    "speculation": "await shown('script', {type: 'speculationrules', textContent: "
    "JSON.stringify({prerender: [{urls: [HTTP]}], prefetch: [{urls: [HTTP]}]})})",
    "frame": "await shown('iframe', {src: HTTP})",
    "object": "await shown('object', {data: HTTP})",
    "video": "await shown('video', {src: HTTP, autoplay: true})",
    "font": "await new FontFace('x', `url(${HTTP})`).load()",
    "beacon": "navigator.sendBeacon(HTTP, 'x')",
    "ping": "const a = await shown('a', {href: '#', ping: HTTP}); a.click()",
    "event source": "await opened(new EventSource(HTTP))",
    "web socket": "await opened(new WebSocket(HTTP.replace('http', 'ws')))",
    "web transport": "await new WebTransport(HTTP.replace('http', 'https')).ready",
    "stun": "await call({urls: 'stun:127.0.0.1:' + PORT})",
    "turn": "await call({urls: `turn:127.0.0.1:${PORT}?transport=tcp`, username: 'a', credential: 'b'})",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('${HTTP}'); importScripts('${HTTP}')`])))",
    "shared worker": "new SharedWorker('data:text/javascript,fetch(' + JSON.stringify(HTTP) + ')')",
    "service worker": "await ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, '/worker.js')",
    "form": "const f = await shown('form', {action: HTTP, method: 'post', target: 'y'}); f.submit()",
    "window": "window.open(HTTP); window.open('', 'z').location = HTTP",
    "redirected fetch": "await fetch('/redirect')",
    "redirected frame": "await shown('iframe', {src: '/redirect'})",
    "redirected image": "await shown('img', {src: '/redirect.png'})",
    "refresh": "await shown('iframe', {srcdoc: `<meta http-equiv=refresh content='0;url=${HTTP}'>`})",
}
HELPERS = """
const shown = (tag, properties) => new Promise((resolve) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.onload = element.onerror = () => resolve(element);
  setTimeout(() => resolve(element), 400);
  document.body.append(element);
});
const opened = (thing) => new Promise((resolve) => { thing.onopen = thing.onerror = resolve; });
const call = async (server) => {
  const peer = new RTCPeerConnection({iceServers: [server]});
  peer.createDataChannel('x');
  await peer.setLocalDescription(await peer.createOffer());
  await new Promise((resolve) => {
    peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve();
  });
};
const within = (work) => Promise.race([work, new Promise((resolve) => setTimeout(resolve, 1500))]);
"""


def attack(ways: dict[str, str], port: int) -> str:
    """A script that goes all `ways` and says what each came to."""
    tries = [
        f"within((async () => {{ {way} }})().then(() => 'done', (error) => String(error))).then((it) => [{name!r}, it])"
        for name, way in ways.items()
    ]
    return (
        f"async () => {{ const PORT = {port}; const HTTP = `http://127.0.0.1:${{PORT}}/x`; {HELPERS} "
        f"return await Promise.all([{', '.join(tries)}]); }}"
    )


def test_no_request_of_a_page_reaches_a_server(hostile: Hostile, loopback: Loopback) -> None:
    async def body() -> list[list[str]]:
        await hostile.open("<body>hello", to=f"http://127.0.0.1:{loopback.port}/x")
        tried = await hostile.screen.evaluate(attack(WAYS, loopback.port), timeout=60)
        await hostile.look()
        return tried  # type: ignore[no-any-return]

    tried = asyncio.run(body())
    assert [name for name, _ in tried] == list(WAYS)
    assert loopback.strangers == []


def test_a_page_that_leaves_for_a_server_arrives_nowhere(hostile: Hostile, loopback: Loopback) -> None:
    address = f"http://127.0.0.1:{loopback.port}/x"

    async def body() -> View:
        await hostile.open(f"<a href='{address}'>away</a><a href='/redirect'>around</a>", to=address)
        for name in ("away", "around"):
            await hostile.screen.visit("http://task.test/")
            view = await hostile.look()
            assert view.elements is not None
            await hostile.do(ClickElement(next(element.id for element in view.elements if element.name == name)))
            assert any("cannot be reached" in note for note in (await hostile.look()).notes)
        assert await hostile.do(Goto(address)) is not None
        return await hostile.look()

    view = asyncio.run(body())
    assert loopback.strangers == []
    assert "REAL" not in str(view.elements)


def test_an_allowed_server_is_reached_and_no_other_of_the_same_host(hostile: Hostile, loopback: Loopback) -> None:
    other = Loopback()

    async def body() -> str:
        await hostile.open()
        await hostile.screen.allow(f"http://127.0.0.1:{loopback.port}")
        await hostile.screen.visit(f"http://127.0.0.1:{loopback.port}/page")
        text = await hostile.screen.evaluate("document.body.innerText")
        with pytest.raises(PageError):
            await hostile.screen.evaluate("url => fetch(url)", f"http://127.0.0.1:{other.port}/")
        return str(text)

    try:
        assert asyncio.run(body()).strip() == "REAL"
        assert len(loopback.strangers) >= 1
        assert other.strangers == []
    finally:
        other.close()


INWARD = ("file:///etc/passwd", "view-source:http://task.test/", "chrome://version", "devtools://devtools/x.html",
          "data:text/html,<b>inside</b>", "javascript:document.body.append('inside')", "filesystem:http://task.test/x",
          "about:version", "http://127.0.0.1:9222/json")  # fmt: skip


@pytest.mark.parametrize("url", INWARD)
def test_no_other_kind_of_address_is_opened(hostile: Hostile, url: str) -> None:
    async def body() -> None:
        await hostile.open("<body>task")
        for act in (Goto(url), NewTab(url)):
            assert await hostile.do(act) is not None
        for script in ("url => { location.href = url }", "url => { window.open(url) }"):
            await hostile.open("<body>task")
            if not url.startswith("javascript:"):
                await hostile.screen.evaluate(script, url)
            for pane in (await hostile.look()).panes:
                assert pane.url.startswith(("http://task.test/", "about:", "chrome-error:", ":"))
            text = await hostile.text()
            assert "root:" not in text
            assert "inside" not in text
            assert "Revision" not in text

    asyncio.run(body())


def test_nothing_of_an_episode_is_left_for_another(hostile: Hostile) -> None:
    keep = """async () => {
      document.cookie = 'a=b; max-age=10000'; localStorage.a = 'b'; sessionStorage.a = 'b'; window.name = 'b';
      await new Promise((resolve) => { indexedDB.open('a').onsuccess = resolve; });
      history.pushState({}, '', '/pushed');
    }"""
    left = """async () => [document.cookie, localStorage.length, sessionStorage.length, window.name,
      (await indexedDB.databases()).length, history.length, opener === null]"""

    async def body() -> tuple[Any, Any]:
        await hostile.open("<body>x")
        fresh = await hostile.screen.evaluate(left)
        await hostile.screen.evaluate(keep)
        second = Hostile()
        await second.open("<body>x")
        await hostile.open("<body>x")
        seen = [await page.screen.evaluate(left) for page in (hostile, second)]
        await second.screen.close()
        return fresh, seen

    fresh, seen = asyncio.run(body())
    assert fresh[:2] == ["", 0]
    assert seen == [fresh, fresh]


def test_the_clipboard_is_an_episodes_own(hostile: Hostile) -> None:
    field = "<input id=field autofocus value='{}' onfocus='this.select()'>"

    async def press(page: Hostile, *keys: str) -> None:
        await page.screen.evaluate("document.querySelector('input').focus()")
        assert await page.do(Hotkey(keys)) is None

    async def body() -> list[str]:
        await hostile.open(field.format("secret"))
        await press(hostile, "ctrl", "c")
        await hostile.screen.evaluate("document.querySelector('input').select(); document.execCommand('copy')")
        other, values = Hostile(), []
        await other.open(field.format(""))
        for keys in (("ctrl", "v"), ("shift", "insert"), ("ctrl", "shift", "v")):
            await press(other, *keys)
            values.append(await other.screen.evaluate("document.querySelector('input').value"))
        await other.screen.evaluate("document.execCommand('paste')")
        values.append(await other.screen.evaluate("document.querySelector('input').value"))
        await other.screen.close()
        await hostile.screen.evaluate("document.querySelector('input').value = ''")
        await press(hostile, "ctrl", "v")
        values.append(await hostile.screen.evaluate("document.querySelector('input').value"))
        return values

    assert asyncio.run(body()) == ["", "", "", "", "secret"]


def test_a_page_gets_no_permission_and_finds_no_way_to_the_browser(hostile: Hostile) -> None:
    script = """async () => {
      const state = async (name) => (await navigator.permissions.query({name})).state;
      const ask = (name) => state(name).catch(() => 'none');
      return {
        granted: (await Promise.all(['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read', 'midi']
          .map(ask))).filter((state) => state === 'granted'),
        leaked: Object.keys(window).filter((name) => /claw|playwright|cdp|binding/i.test(name)),
        worker: 'serviceWorker' in navigator,
      };
    }"""

    async def body() -> Any:
        await hostile.open("<body>x")
        await hostile.look()
        return await hostile.screen.evaluate(script)

    found = asyncio.run(body())
    assert found["granted"] == []
    assert found["leaked"] == []


def acts_on_nothing() -> list[Act]:
    return [ClickElement("1"), Hotkey(("ctrl", "v")), Goto(json.dumps({}))]


def test_behind_the_wall_chromium_has_no_network_no_privilege_and_no_files(hostile: Hostile) -> None:
    chosen = engine.wall_for(find_chromium())
    if not chosen.words:
        pytest.skip("the other half of the tests: flags only")

    async def body() -> dict[int, str]:
        await hostile.open("<body>x")
        assert hostile.screen._session is not None
        return family(hostile.screen._session.engine._mark)

    pids = {pid: kind for pid, kind in asyncio.run(body()).items() if kind in ("renderer", "utility")}
    assert set(pids.values()) == {"renderer", "utility"}
    for pid, kind in pids.items():
        status = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
        )
        assert os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net")
        assert os.readlink(f"/proc/{pid}/ns/pid") != os.readlink("/proc/self/ns/pid")
        assert status["NoNewPrivs"] == "1"
        assert int(status["Uid"].split()[0]) != 0
        with pytest.raises(OSError, match=r"No such (file|process)"):  # a sandboxed one has no root directory at all
            os.stat(f"/proc/{pid}/root/root")
        if kind == "renderer" and chosen.own_sandbox:
            assert status["Seccomp"].strip() == "2"


def test_a_page_that_breaks_what_every_page_has_breaks_only_itself(hostile: Hostile) -> None:
    breaks = """() => {
      for (const name of ['querySelector', 'querySelectorAll', 'getElementsByTagName']) {
        Document.prototype[name] = Element.prototype[name] = () => { throw new Error('broken') };
      }
      Array.prototype.map = Array.prototype.push = () => { throw new Error('broken') };
      JSON.stringify = JSON.parse = Math.round = () => { throw new Error('broken') };
      window.MutationObserver = window.MessageChannel = window.setTimeout = window.Promise = undefined;
    }"""

    async def body() -> View:
        await hostile.open("<button>still</button>")
        await hostile.screen.evaluate(breaks)
        for act in acts_on_nothing():
            await hostile.do(act)
        return await hostile.look()

    view = asyncio.run(body())
    assert [element.name for element in view.elements or ()] == ["still"]
