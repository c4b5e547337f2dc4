"""Waiting until an act has taken effect: nothing is loading, no answer is awaited, something changed.

An act that changed the page at once costs two calls and no waiting. One that changed nothing is given a moment, since a
page may answer a little later; so are animations that end soon. Not covered: what a page does by a timer of its own
after that.
"""

import asyncio
import contextlib

from claw_envs.gui.browser.session import Session

PATIENCE = 120
"""Milliseconds in which an act that changed nothing yet may still do so."""
ANIMATIONS = 600
"""Milliseconds; animations that last longer are not waited for."""
_REQUESTS = 5.0
"""Seconds in which answers that a page waits for are awaited, once it has loaded."""


async def settle(session: Session, *, patient: bool = True) -> None:
    """Wait for the active tab.

    Args:
        patient: whether the act should have changed something.

    Raises:
        HungError: if the page does not answer.
    """
    now = asyncio.get_running_loop().time
    over = now() + _REQUESTS
    while True:
        tab = session.tab
        if tab.loading:
            await tab.loaded()
            over = now() + _REQUESTS
        said = await tab.call("settle", PATIENCE if patient and not session.pending else 0, ANIMATIONS)
        if said["copied"] is not None:
            session.clipboard = said["copied"]
        if said["closing"]:
            await tab.closed()
        if (not session.pending and not tab.loading and tab is session.tab) or now() >= over:
            return
        patient = not tab.loading
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(over):
                await session.arrived()
                await session.network.idle()
                await asyncio.gather(*(tab.answered() for tab in session.tabs))
