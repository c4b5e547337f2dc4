"""One server among several, and which of them gets the next request."""

import asyncio
from collections.abc import Collection, Sequence
from enum import Enum
from typing import Any

from claw_envs.core.errors import InfrastructureError
from trainers.policies.engines.affinity import Affinity
from trainers.policies.engines.base import Engine, EngineDownError


class State(Enum):
    """Whether a replica gets requests."""

    UP = "up"
    AWAY = "away"
    """Being drained for an update."""
    DOWN = "down"
    """Failed, or behind in its weights: on probation until it is healthy and up to date."""


class Replica:
    """One engine and what is in flight on it."""

    def __init__(self, index: int, engine: Engine) -> None:
        self.index, self.engine = index, engine
        self.state = State.UP
        self.error = ""
        self.failures = 0
        """Since the last request that succeeded."""
        self.served = 0
        self.requests: set[asyncio.Task[Any]] = set()
        self.probe: asyncio.Task[None] | None = None

    async def drained(self, timeout: float) -> None:
        """Wait until nothing is in flight, at most `timeout` seconds."""
        if self.requests:
            await asyncio.wait(self.requests, timeout=timeout)

    def move_requests(self) -> None:
        """End what is in flight here; whoever asked for it asks another replica."""
        for request in self.requests:
            request.cancel()


class Choice:
    """Least requests in flight, and the replica that has the prompt's beginning where it is not much busier."""

    def __init__(self, replicas: Sequence[Replica], *, slack: int, patience: float) -> None:
        """
        Args:
            replicas: all of them.
            slack: requests that a replica with the prompt's beginning may have more than the least busy one.
            patience: seconds to wait for a replica that is up.
        """
        self._replicas, self._slack, self._patience = replicas, slack, patience
        self._affinity = Affinity()
        self._changed = asyncio.Event()

    def changed(self) -> None:
        """A replica came up."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def take(self, ids: Sequence[int], tried: Collection[Replica]) -> Replica:
        """A replica for a request of `ids`, rather not one of `tried`; one that is being drained where no other is up.

        Raises:
            EngineDownError: if none is up for too long.
        """
        try:
            async with asyncio.timeout(self._patience):
                while not (up := self._in(State.UP) or self._in(State.AWAY)):
                    await self._changed.wait()
        except TimeoutError:
            said = "; ".join(replica.error or replica.state.value for replica in self._replicas)
            raise EngineDownError(f"no engine was up for {self._patience:g} s: {said}") from None
        candidates = [replica for replica in up if replica not in tried] or up
        least = min(candidates, key=lambda replica: (len(replica.requests), replica.served))
        known = self._affinity.find(ids)
        for replica in candidates:
            if replica.index == known and len(replica.requests) <= len(least.requests) + self._slack:
                return replica
        return least

    def _in(self, state: State) -> list[Replica]:
        return [replica for replica in self._replicas if replica.state is state]

    def note(self, ids: Sequence[int], replica: Replica) -> None:
        """`replica` has computed all of `ids`."""
        self._affinity.note(ids, replica.index)


def check(ended: Sequence[BaseException | None]) -> None:
    """Raise what is no server's fault, else the error that tells most (a refusal before a silence) where all failed."""
    errors = [error for error in ended if error is not None]
    for error in errors:
        if not isinstance(error, InfrastructureError):
            raise error
    if errors and len(errors) == len(ended):
        raise next((error for error in errors if not isinstance(error, EngineDownError)), errors[0])
