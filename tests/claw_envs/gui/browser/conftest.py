"""A browser with one page of a test's own; tests that need one are skipped where no chromium is installed."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task, VerifierSpec
from claw_envs.gui.acts import ScreenAct
from claw_envs.gui.browser import BrowserScreen, Request, Response
from claw_envs.gui.browser.executable import find_chromium
from claw_envs.gui.screen import Element, Parts, View

TREE = Parts(screenshot=False, axtree=True)
HOME = "http://page.test/"


class Page:
    """One episode's screen, whose host answers every path with what `pages` has for it."""

    def __init__(self) -> None:
        self.screen = BrowserScreen(size=(800, 600))
        self.asked: list[Request] = []
        self.pages: Mapping[str, str | Response] = {}

    async def open(self, body: str = "", pages: Mapping[str, str | Response] = {}) -> None:
        """A fresh screen that shows `body`, and more pages by their paths."""
        self.pages = {"/": body, **pages}

        async def handler(request: Request) -> Response:
            self.asked.append(request)
            found = self.pages.get(request.path, Response(404, {"content-type": "text/html"}, b"no such page"))
            return Response(200, {"content-type": "text/html"}, found.encode()) if isinstance(found, str) else found

        await self.screen.open(TASK)
        await self.screen.serve("page.test", handler)
        await self.screen.visit(HOME)

    async def do(self, act: ScreenAct, timeout: float = 60.0) -> str | None:
        return await self.screen.do(act, timeout=timeout)

    async def look(self) -> View:
        return await self.screen.look(TREE)

    async def elements(self) -> list[Element]:
        return list((await self.look()).elements or ())

    async def element(self, name: str, role: str | None = None) -> Element:
        """The element of a name."""
        return next(it for it in await self.elements() if it.name == name and role in (None, it.role))

    async def id(self, name: str, role: str | None = None) -> str:
        return (await self.element(name, role)).id

    async def script(self, script: str, argument: Any = None) -> Any:
        return await self.screen.evaluate(script, argument)


TASK = Task(id="page", instruction="", family="gui", verifier=VerifierSpec(kind="webapp"))


@pytest.fixture(scope="session", autouse=True)
def chromium() -> str:
    try:
        return find_chromium()
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture
def page(chromium: str) -> Iterator[Page]:
    made = Page()
    yield made
    asyncio.run(made.screen.close())
