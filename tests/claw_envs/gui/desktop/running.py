"""A desktop for coroutines under test, and what finds its way about in what is seen."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from claw_envs.core.task import SandboxSpec, Task, VerifierSpec
from claw_envs.gui.desktop.screen import DesktopScreen
from claw_envs.gui.screen import Element, Parts, View

Body = Callable[[DesktopScreen], Awaitable[Any]]
APPLICATION_TIMEOUT = 30.0


def task(**spec: Any) -> Task:
    """One that asks for nothing but a sandbox of that kind."""
    return Task(
        id="a-desktop",
        family="gui",
        instruction="",
        verifier=VerifierSpec(kind="osworld"),
        sandbox=SandboxSpec(**spec) if spec else None,
    )


def runner(backend: str, *, limit: float = 120) -> Callable[..., Any]:
    """`run(body, **spec)`: run `await body(screen)` within `limit` seconds on an open desktop, closed afterwards."""

    def run(body: Body, *, size: tuple[int, int] = (1280, 720), **spec: Any) -> Any:
        async def main() -> Any:
            screen = DesktopScreen(size=size, sandbox=backend)
            try:
                async with asyncio.timeout(limit):
                    await screen.open(task(**spec))
                    return await body(screen)
            finally:
                await screen.close()

        return asyncio.run(main())

    return run


async def until(screen: DesktopScreen, seen: Callable[[View], Any], *, axtree: bool = True) -> View:
    """Look until `seen` is true of what is there."""
    end = time.monotonic() + APPLICATION_TIMEOUT
    while not seen(view := await screen.look(Parts(screenshot=False, axtree=axtree))):
        if time.monotonic() > end:
            shown = [(one.role, one.name, one.value) for one in view.elements or ()]
            raise AssertionError(f"not seen; there are {[pane.title for pane in view.panes]} with {shown}")
        await asyncio.sleep(0.05)
    return view


def find(view: View, role: str, name: str) -> Element:
    """The first element of that role and name."""
    return next(element for element in view.elements or () if (element.role, element.name) == (role, name))


def has(role: str, name: str) -> Callable[[View], bool]:
    """Whether there is an element of that role and name."""
    return lambda view: any((element.role, element.name) == (role, name) for element in view.elements or ())


def value(view: View, role: str, name: str = "") -> str:
    """What the first element of that role and name holds; empty where there is none."""
    return next((one.value for one in view.elements or () if (one.role, one.name) == (role, name)), "")
