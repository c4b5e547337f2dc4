"""Which weights one server has, as its client knows, and how they are changed while requests are in flight."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from trainers.policies.engines.base import EngineDownError, check_versions
from trainers.policies.engines.tasks import surely

SETTLE_SECONDS = 60.0
"""For the call that ends an update, whatever became of it."""

Call = Callable[[], Awaitable[None]]


class ServerWeights:
    """The version in use, and whether a change of the weights has failed half-way."""

    def __init__(self, url: str) -> None:
        """
        Args:
            url: of the server, for errors.
        """
        self.version = 0
        self.changing = False
        """Set by what loads, from the moment in which they are neither the old nor the new ones."""
        self.broken = False
        """Whether the last change ended there."""
        self._url = url
        self._updating = asyncio.Lock()

    def check_whole(self) -> None:
        """Raises EngineDownError where the weights are mixed."""
        if self.broken:
            raise EngineDownError(f"{self._url}: its weights are mixed: an update failed; update it again")

    def note(self, versions: Sequence[int], known: int) -> None:
        """Take what a response's tokens say; see `check_versions`."""
        check_versions(self._url, versions, known)
        self.version = max(self.version, *versions, 0)

    async def change(self, version: int, *, pause: Call, load: Call, go_on: Call) -> None:
        """Pause, load, go on: one change at a time.

        Args:
            go_on: called whatever happened, and carried out even where this is cancelled; `broken` is right by then.

        Raises:
            EngineDownError: if the server has the new weights and does not go on.
        """
        async with self._updating:
            try:
                await pause()
                await load()
                self.version, self.changing = version, False
            finally:
                self.broken = self.changing
                went_on = await surely(go_on(), SETTLE_SECONDS)
            if not went_on:
                raise EngineDownError(f"{self._url}: it has the new weights, but stays paused")
