"""`Fleet`: which of several servers get requests. Failed ones are taken out, probed, and let in again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from claw_envs.core.errors import InfrastructureError, UserError
from trainers.policies.engines.base import Engine, EngineDownError, EngineLostError, EngineSlowError
from trainers.policies.engines.replica import Choice, Replica, State

_LOSSES = 2
"""Servers that may be lost under one request. One that kills servers must not get to all of them."""
_LONGEST_PROBATION = 30.0  # seconds between two probes of a server that is down
T = TypeVar("T")


class Fleet:
    """Requests go to the least busy replica, and move to another where one fails."""

    def __init__(
        self,
        replicas: Sequence[Replica],
        *,
        level: Callable[[Replica], Awaitable[bool]],
        quiet: Callable[[], bool],
        attempts: int,
        patience: float,
        check_every: float,
        backoff: float,
        slack: int,
    ) -> None:
        """
        Args:
            replicas: all of them.
            level: gives a healthy one what the others have; False where it cannot.
            quiet: whether servers may be paused just now, and say that they are not healthy.
            attempts: see `Replicas`, as the rest.
        """
        self._replicas, self._level, self._quiet = replicas, level, quiet
        self._choice = Choice(replicas, slack=slack, patience=patience)
        self._attempts, self._check_every, self._backoff = attempts, check_every, backoff
        self._watch: asyncio.Task[None] | None = None
        self._closed = False

    async def run(self, ids: Sequence[int], call: Callable[[Engine], Awaitable[T]]) -> T:
        """`call` on one replica after the other until one gives an answer.

        Raises:
            EngineDownError: if `attempts` of them failed, two were lost while they were at it, its time is over, or
                none is up.
        """
        if self._watch is None and not self._closed:
            self._watch = asyncio.create_task(self._watching())
        tried: list[Replica] = []
        losses = 0
        while True:
            if self._closed:
                raise EngineDownError("this client was closed")
            replica = await self._choice.take(ids, tried)
            try:
                result = await self._on(replica, call)
            except EngineSlowError:  # another server would need as long; one that hangs fails its health check
                raise
            except EngineDownError as error:
                tried.append(replica)
                losses += isinstance(error, EngineLostError)
                self.suspect(replica, str(error))
                if len(tried) >= self._attempts or losses >= _LOSSES:
                    raise
                continue
            replica.failures = 0
            self._choice.note(ids, replica)
            return result

    async def _on(self, replica: Replica, call: Callable[[Engine], Awaitable[T]]) -> T:
        """`call` on `replica`, until it is found dead: then the request is moved away."""
        request: asyncio.Task[T] = asyncio.ensure_future(call(replica.engine))  # type: ignore[assignment]
        replica.requests.add(request)
        replica.served += 1
        try:
            await asyncio.wait({request})
        finally:
            replica.requests.discard(request)
            if not request.done():  # ours was cancelled: the server is told before we go
                request.cancel()
                await asyncio.wait({request})
        if request.cancelled():
            raise EngineLostError(f"{replica.engine.urls[0]} went down: {replica.error}")
        return request.result()

    def suspect(self, replica: Replica, error: str) -> None:
        """Give `replica` nothing more until a probe finds it well."""
        replica.error = error
        if replica.state is State.UP and not self._closed:
            replica.state = State.DOWN
            replica.probe = asyncio.create_task(self._probation(replica))

    async def _probation(self, replica: Replica) -> None:
        """Probe until `replica` may come back: at once after a first failure, later and later after more."""
        while True:
            if replica.failures:
                await asyncio.sleep(min(_LONGEST_PROBATION, self._backoff * 2 ** min(replica.failures - 1, 10)))
            replica.failures += 1
            try:
                if await replica.engine.health() and await self._level(replica):
                    self.admit(replica)
                    return
            except (InfrastructureError, UserError) as error:
                replica.error = str(error)
            replica.move_requests()

    def admit(self, replica: Replica) -> None:
        """Give `replica` requests again."""
        replica.state, replica.error = State.UP, ""
        self._choice.changed()

    async def _watching(self) -> None:
        """A server that hangs fails no request by itself: look after all that are up, but for times of an update."""
        while True:
            await asyncio.sleep(self._check_every)
            await asyncio.gather(*(self._check(replica) for replica in self._replicas))

    async def _check(self, replica: Replica) -> None:
        well = replica.state is not State.UP or self._quiet() or await replica.engine.health()
        if not well and not self._quiet():  # an update may have begun meanwhile
            self.suspect(replica, "it failed its health check")
            replica.failures = max(replica.failures, 1)

    async def aclose(self) -> None:
        """Stop looking after the servers, and end what is in flight. May be called again."""
        self._closed = True
        watching = [task for task in (self._watch, *(replica.probe for replica in self._replicas)) if task is not None]
        tasks = [*watching, *(request for replica in self._replicas for request in replica.requests)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watch = None
