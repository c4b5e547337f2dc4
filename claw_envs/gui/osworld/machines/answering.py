"""Whether a machine answers."""

import asyncio
import time

from claw_envs.core.errors import InfrastructureError
from claw_envs.gui.osworld.client import OsworldClient, RefusedError

_PROBE_TIMEOUT = 5.0
_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


async def probe(url: str, *, secret: str = "") -> None:
    """Ask a machine something that costs it nothing.

    Raises:
        InfrastructureError: if it does not answer as it should.
    """
    client = OsworldClient(url, secret=secret)
    try:
        await client.get("/platform", bytes, timeout=_PROBE_TIMEOUT)
    except RefusedError as error:
        raise client.lost(f"it refuses to be probed: {error}") from error


async def come_up(url: str, *, timeout: float, secret: str = "") -> None:
    """Wait until a machine that is being started answers: only asking tells.

    Raises:
        InfrastructureError: if it does not in time.
    """
    end, pause = time.monotonic() + timeout, _PAUSE
    while True:
        try:
            return await probe(url, secret=secret)
        except InfrastructureError as error:
            if time.monotonic() + pause > end:
                raise InfrastructureError(f"{error}, {timeout:g} s after it was started") from error
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
