"""A bounded number of environments, made when they are first needed and lent to one episode at a time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from claw_envs.core.env import ClawEnv

_CLOSE_SECONDS = 60.0


class EnvironmentPool:
    """Use it from one event loop."""

    def __init__(self, make: Callable[[ClawEnv | None], ClawEnv], *, size: int) -> None:
        """
        Args:
            make: gives a new environment, from one that was made before where there is one; called in a thread.
            size: environments at once; further episodes wait.
        """
        self._make = make
        self._places = asyncio.Semaphore(size)
        self._making = asyncio.Lock()
        self._idle: list[ClawEnv] = []
        self._first: ClawEnv | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def lease(self) -> AsyncIterator[ClawEnv]:
        """An environment of one's own. One that its episode left by an exception is not lent again."""
        async with self._places:
            env = self._idle.pop() if self._idle else await self._new()
            try:
                yield env
            except BaseException:
                closing = asyncio.create_task(_close(env))  # may take long, or hang as the episode did
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)
                raise
            self._idle.append(env)

    async def _new(self) -> ClawEnv:
        async with self._making:  # one after another, so that there is a first one for the others
            env = await asyncio.to_thread(self._make, self._first)
            self._first = self._first or env
        return env

    async def aclose(self) -> None:
        """Close the environments that are not lent. May be called again."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*map(_close, idle), *self._closing)


async def _close(env: ClawEnv) -> None:
    """As far as possible in time: a broken environment may fail in any way here too."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await env.aclose()
