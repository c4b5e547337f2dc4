"""Contexts made ahead, and the chromium processes that they are in.

A browser takes a number of contexts; beyond it another one is launched. One whose own process has grown takes no more
and is closed with its last context.

Not covered: a bound on how many are leased at a time.
"""

import asyncio
import os
from collections import defaultdict
from typing import Any

from claw_envs.core.errors import InfrastructureError
from claw_envs.gui.browser.engine import Engine
from claw_envs.gui.browser.session import Session

CONTEXTS_PER_BROWSER = 32
SPARES = 1
"""Contexts that wait, of a kind; one takes 40 ms to make and 30 MB to keep."""
CHECK_EVERY = 32
"""Contexts that are closed between two looks at a browser's memory."""
RECYCLE_BYTES = 1 << 30
"""Proportional set size of a browser's processes without those of pages, above which it is replaced."""

Kind = tuple[str, tuple[int, int], float]


class BrowserPool:
    """Hands out sessions that nobody else has. Use on the shared loop."""

    def __init__(self) -> None:
        self._engines: dict[str, list[Engine]] = defaultdict(list)
        self._spares: dict[Kind, list[asyncio.Task[Session]]] = defaultdict(list)
        self._background: set[asyncio.Task[Any]] = set()
        self._launching = asyncio.Lock()
        self._closed = 0

    async def lease(self, executable: str, size: tuple[int, int], scale: float = 1.0) -> Session:
        """A fresh session; one more is made in the background.

        Raises:
            InfrastructureError: if none can be made.
            UserError: if Playwright is not installed.
        """
        kind = (executable, size, scale)
        session = await self._ready(kind)
        while len(self._spares[kind]) < SPARES:
            self._spares[kind].append(asyncio.ensure_future(self._make(kind)))
        return session

    async def _ready(self, kind: Kind) -> Session:
        while self._spares[kind]:
            spare = self._spares[kind].pop(0)
            try:
                session = await asyncio.shield(spare)
            except InfrastructureError:
                continue
            except asyncio.CancelledError:
                self._spares[kind].append(spare)
                raise
            if not session.engine.lost and not session.engine.retired:
                return session
            await self._end(session)
        return await self._make(kind)

    async def _make(self, kind: Kind) -> Session:
        executable, size, scale = kind
        try:
            return await Session.make(await self._engine(executable), size, scale)
        except InfrastructureError:
            return await Session.make(await self._engine(executable), size, scale)  # the browser was lost just now

    async def _engine(self, executable: str) -> Engine:
        async with self._launching:
            engines = self._engines[executable]
            engines[:] = [engine for engine in engines if not engine.lost and not engine.retired]
            for engine in engines:
                if engine.contexts < CONTEXTS_PER_BROWSER:
                    return engine
            engines.append(await Engine.launch(executable))
            return engines[-1]

    def give_back(self, session: Session) -> None:
        """Close a session in the background; it is not to be touched any more."""
        task = asyncio.ensure_future(self._end(session))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _end(self, session: Session) -> None:
        await session.close()
        engine = session.engine
        self._closed += 1
        if self._closed % CHECK_EVERY == 0 and not engine.lost:
            sizes = await engine.memory()
            if sum(size for kind, size in sizes.items() if kind != "renderer") > RECYCLE_BYTES:
                engine.retired = True
        if engine.retired and engine.contexts <= 0:
            await engine.close()

    async def close(self) -> None:
        """End all browsers, and with them whatever is leased."""
        for spare in [spare for spares in self._spares.values() for spare in spares]:
            spare.cancel()
        self._spares.clear()
        for engine in [engine for engines in self._engines.values() for engine in engines]:
            await engine.close()
        self._engines.clear()


_pools: dict[int, BrowserPool] = {}


def shared_pool() -> BrowserPool:
    """The pool of this process."""
    return _pools.setdefault(os.getpid(), BrowserPool())
