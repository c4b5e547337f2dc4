"""The isolated worlds in which our scripts run: one for a page and the frames of its origin, one for each other frame.

A page cannot see what runs there. A world keeps the ids of its elements while its frame's page lives.

Not covered: frames in a process of their own, which the engine's flags rule out.
"""

import functools
import json
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from claw_envs.gui.browser.errors import PageError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_LIBRARY = ("tree.js", "roles.js", "acts.js", "clipboard.js")
_FUNCTIONS = ("look", "spot", "origin", "node", "fill", "choose", "settle", "scrolled", "listen", "paste", "answer")
_WORLD = "claw"


class Inner(NamedTuple):
    """A frame that the scripts of the frame around it do not reach."""

    frame: str
    """Chromium's id of it."""
    element: str
    """Our id of the element that it is in."""


@functools.cache
def _library() -> str:
    """What a world holds: the functions that `call` runs by name."""
    folder = resources.files("claw_envs.gui.browser") / "page"
    source = "\n".join((folder / name).read_text() for name in _LIBRARY)
    return f"globalThis.claw = (() => {{\n{source}\nreturn {{ {', '.join(_FUNCTIONS)} }};\n}})(); 0"


class Worlds:
    """Those of one tab. Every call may raise Playwright's Error where the page is left meanwhile."""

    def __init__(self, cdp: Callable[[], Awaitable["CDPSession"]]) -> None:
        self._cdp = cdp
        self._contexts: dict[str | None, int] = {}
        """By frame; None is the page's own."""

    def forget(self) -> None:
        """Make all anew, as the page may be another one."""
        self._contexts.clear()

    async def call(self, function: str, arguments: tuple[Any, ...], frame: str | None) -> Any:
        """The JSON value of one of our functions in a frame.

        Raises:
            PageError: if it failed.
        """
        words = ", ".join(json.dumps(argument) for argument in arguments)
        return (await self._evaluate(f"claw.{function}({words})", frame, by_value=True)).get("value")

    async def inner(self, element: str, frame: str | None) -> Inner | None:
        """The frame within an element of a frame; None where there is none any more."""
        found = await self._evaluate(f"claw.node({json.dumps(element)})", frame, by_value=False)
        if "objectId" not in found:
            return None
        cdp = await self._cdp()
        described = await cdp.send("DOM.describeNode", {"objectId": found["objectId"]})
        inside = described["node"].get("frameId")
        return Inner(inside, element) if inside else None

    async def _evaluate(self, expression: str, frame: str | None, *, by_value: bool) -> dict[str, Any]:
        cdp = await self._cdp()
        if frame not in self._contexts:
            self._contexts[frame] = await self._made(cdp, frame)
        answer = await cdp.send(
            "Runtime.evaluate",
            {
                "expression": expression,
                "contextId": self._contexts[frame],
                "returnByValue": by_value,
                "awaitPromise": True,
            },
        )
        fault = answer.get("exceptionDetails")
        if fault:
            raise PageError(str(fault.get("exception", {}).get("description") or fault.get("text")))
        result: dict[str, Any] = answer["result"]
        return result

    async def _made(self, cdp: "CDPSession", frame: str | None) -> int:
        inside = frame or (await cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        world = await cdp.send("Page.createIsolatedWorld", {"frameId": inside, "worldName": _WORLD})
        context: int = world["executionContextId"]
        await cdp.send("Runtime.evaluate", {"expression": _library(), "contextId": context})
        return context
