import asyncio
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.acts import ClickElement, Fill, Goto, Hotkey
from claw_envs.gui.browser import Request, Response
from claw_envs.gui.browser.network import origin_of
from tests.claw_envs.gui.browser.conftest import HOME, Page


def html(text: str, **headers: str) -> Response:
    return Response(
        200, {"content-type": "text/html", **{k.replace("_", "-"): v for k, v in headers.items()}}, text.encode()
    )


def test_a_handler_is_told_all_of_a_request(page: Page) -> None:
    script = """() => fetch('/some%20path/ü?a=1&b=&a=2&c=%26', {method: 'PUT', body: 'täxt', headers: {'X-Own': 'yes'}})
      .then((answer) => answer.status)"""

    async def body() -> Any:
        await page.open("x")
        return await page.script(script), page.asked[-1]

    status, request = asyncio.run(body())
    assert status == 404
    assert request.method == "PUT"
    assert request.path == "/some path/ü"
    assert request.query == {"a": "2", "b": "", "c": "&"}
    assert request.body == "täxt".encode()
    assert request.headers["x-own"] == "yes"


def test_cookies_come_back(page: Page) -> None:
    async def body() -> Any:
        await page.open("x", {"/in": html("in", set_cookie="session=abc; Path=/; HttpOnly")})
        await page.do(Goto(f"{HOME}in"))
        await page.do(Goto(HOME))
        return page.asked[-1].headers.get("cookie"), await page.script("document.cookie")

    assert asyncio.run(body()) == ("session=abc", "")


def test_a_form_is_posted_and_answered_with_a_redirect(page: Page) -> None:
    form = "<form method=post action=/save><input name=text aria-label=text></form>"

    async def body() -> Any:
        saved = Response(303, {"Location": "/saved?id=7", "Set-Cookie": "seen=1"})
        await page.open(form, {"/save": saved, "/saved": "<p>saved"})
        await page.do(Fill(await page.id("text"), "a b"))
        await page.do(Hotkey(("enter",)))
        view = await page.look()
        return (
            view.url,
            view.elements[0].name,
            [(one.method, one.path, one.body) for one in page.asked],
            await page.script("document.cookie"),
        )

    url, text, asked, cookie = asyncio.run(body())
    assert url == f"{HOME}saved?id=7"
    assert text == "saved"
    assert asked == [("GET", "/", b""), ("POST", "/save", b"text=a+b"), ("GET", "/saved", b"")]
    assert cookie == "seen=1"


def test_a_script_follows_redirects(page: Page) -> None:
    async def body() -> Any:
        hops = {"/a": Response(302, {"location": "/b"}), "/b": Response(307, {"location": "/c"}), "/c": "end"}
        await page.open("x", hops)
        return await page.script("() => fetch('/a').then((answer) => answer.text())")

    assert asyncio.run(body()) == "end"


def test_redirects_that_never_end_are_an_error_of_the_page(page: Page) -> None:
    async def body() -> Any:
        await page.open("x", {"/a": Response(302, {"location": "/a"})})
        return await page.script("() => fetch('/a').then(() => 'answered', () => 'failed')")

    assert asyncio.run(body()) == "failed"


def test_hosts_are_told_apart_and_case_is_not(page: Page) -> None:
    async def other(request: Request) -> Response:
        return html("<p>other")

    async def body() -> Any:
        await page.open("<p>page")
        await page.screen.serve("Other.Test:8080", other)
        errors = [await page.do(Goto(url)) for url in ("http://other.test:8080/", "http://other.test/", "PAGE.test")]
        return errors, (await page.elements())[0].name

    errors, name = asyncio.run(body())
    assert errors == [None, "http://other.test/ cannot be opened: it is no address of this task", None]
    assert name == "page"


def test_what_cannot_be_reached_is_noted(page: Page) -> None:
    async def body() -> Any:
        await page.open("<a href=http://elsewhere.test/x>away</a>")
        await page.do(ClickElement(await page.id("away")))
        return await page.look()

    view = asyncio.run(body())
    assert list(view.notes) == ["http://elsewhere.test/x cannot be reached from here"]


def test_a_bug_of_a_handler_is_raised_again(page: Page) -> None:
    async def broken(request: Request) -> Response:
        raise KeyError("bug")

    async def body() -> None:
        await page.open("x")
        await page.screen.serve("broken.test", broken)
        await page.screen.visit("http://broken.test/")

    with pytest.raises(KeyError, match="bug"):
        asyncio.run(body())


def test_a_visit_of_what_is_not_there_is_our_failure(page: Page) -> None:
    async def body() -> None:
        await page.open("x")
        await page.screen.visit("http://elsewhere.test/")

    with pytest.raises(InfrastructureError, match=r"elsewhere\.test/ cannot be visited"):
        asyncio.run(body())


def test_an_address_that_is_none_cannot_be_allowed(page: Page) -> None:
    async def body() -> None:
        await page.open("x")
        await page.screen.allow("elsewhere.test")

    with pytest.raises(UserError, match="no address of a server"):
        asyncio.run(body())


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://A.test/x?y", "http://a.test"),
        ("http://a.test:80", "http://a.test"),
        ("https://a.test:443/", "https://a.test"),
        ("http://a.test:8080/", "http://a.test:8080"),
        ("http://user:secret@a.test/", "http://a.test"),
        ("file:///x", None),
        ("a.test", None),
        ("http://a.test:port/", None),
        ("http://[::1", None),
        ("http://", None),
    ],
)
def test_origins(url: str, origin: str | None) -> None:
    assert origin_of(url) == origin
