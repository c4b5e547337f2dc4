"""Leases: who holds which environment, until when, and what was already executed for them.

All state is in memory. A server that was restarted knows no lease of before, and its clients are told so.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import InfrastructureError
from claw_envs.server import wire
from claw_envs.server.execute import execute

log = logging.getLogger("claw_envs.server")

_QUEUE_SECONDS = 1.0  # how long a call waits for its turn before the client is told to come back
_CLOSE_SECONDS = 60.0
_MOST_CALLS = 4  # of one lease that wait or run


class BusyError(Exception):
    """Every place is taken; nothing was done. To be tried again after `retry_after` seconds."""

    retry_after = 1.0


@dataclass
class Counts:
    """What happened since the server began."""

    leases: int = 0
    calls: int = 0
    repeated: int = 0
    refused: int = 0
    expired: int = 0
    aborted: int = 0


class Turns:
    """At most so many calls at once, first come, first served."""

    def __init__(self, most: int, counts: Counts) -> None:
        self._free = asyncio.Semaphore(most)
        self._counts = counts
        self.running = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it.

        Raises:
            BusyError: if none came in time.
        """
        try:
            async with asyncio.timeout(_QUEUE_SECONDS):
                await self._free.acquire()
        except TimeoutError:
            self._counts.refused += 1
            raise BusyError("as many calls are running as this server allows") from None
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._free.release()


class Lease:
    """One environment, held by one client."""

    def __init__(self, env: ClawEnv, turns: Turns, counts: Counts, *, ttl: float, expired: Callable[["Lease"], None]):
        self.id = secrets.token_urlsafe(32)
        self._env, self._turns, self._counts, self._ttl, self._expired = env, turns, counts, ttl, expired
        self._loop = asyncio.get_running_loop()
        self._one_at_a_time = asyncio.Lock()
        self._calls: dict[int, asyncio.Task[bytes]] = {}
        self._newest = 0
        self._socket: WebSocket | None = None
        self._warned = self._closed = False
        self.touch()
        self._timer = self._loop.call_later(ttl, self._check)

    def touch(self) -> None:
        """The client lives."""
        self._until, self._warned = self._loop.time() + self._ttl, False

    def _check(self) -> None:
        left = self._until - self._loop.time()
        if left <= 0 and not self._warned:
            # this loop may itself have been held up: what clients sent meanwhile is read first
            left, self._warned = self._ttl / 4, True
        if left > 0:
            self._timer = self._loop.call_later(left, self._check)
        else:
            self._expired(self)

    async def attach(self, socket: WebSocket) -> None:
        """Answer on `socket` from now on; an earlier connection, which the client has given up, is closed."""
        before, self._socket = self._socket, socket
        await _hang_up(before, wire.REPLACED)

    async def call(self, request: wire.Call) -> bytes | None:
        """The encoded reply to `request`, which is executed once however often it is sent.

        None if it was cancelled, or came when the lease had ended: nothing may start in an environment that closes.
        """
        if self._closed:
            return None
        task = self._calls.get(request.key)
        if task is not None:
            self._counts.repeated += 1
        else:
            # a client that sends a new request has had the replies to those before
            self._calls = {key: task for key, task in self._calls.items() if not task.done()}
            if request.key <= self._newest or len(self._calls) >= _MOST_CALLS:
                return wire.encode(wire.fault(InfrastructureError("that request is out of turn"), key=request.key))
            task = self._calls[request.key] = asyncio.create_task(self._execute(request))
        await asyncio.wait({task})
        return None if task.cancelled() else task.result()

    async def _execute(self, request: wire.Call) -> bytes:
        try:
            async with self._one_at_a_time, self._turns.turn():
                self._newest = max(self._newest, request.key)
                self._counts.calls += 1
                done = await execute(self._env, request)
        except BusyError as error:
            del self._calls[request.key]
            return wire.encode(wire.Fault(key=request.key, kind="busy", text=str(error), retry_after=error.retry_after))
        self._counts.aborted += done.aborted
        return done.reply

    def cancel(self, key: int) -> None:
        """Stop the call of this key, if it is running."""
        if key in self._calls:
            self._calls[key].cancel()

    async def close(self) -> None:
        """Stop what runs, close the environment, tell the client."""
        self._closed = True
        self._timer.cancel()
        for task in self._calls.values():
            task.cancel()
        if self._calls:
            await asyncio.wait(self._calls.values(), timeout=_CLOSE_SECONDS)
        await _hang_up(self._socket, wire.GONE)
        async with asyncio.timeout(_CLOSE_SECONDS):
            await self._env.aclose()


async def _hang_up(socket: WebSocket | None, code: int) -> None:
    if socket is not None and socket.application_state is WebSocketState.CONNECTED:
        with suppress(WebSocketDisconnect):
            await socket.close(code)


class Leases:
    """All leases of a server."""

    def __init__(self, *, most: int, most_running: int, ttl: float) -> None:
        """
        Args:
            most: leases at once.
            most_running: calls at once, over all leases.
            ttl: seconds without a word from its client after which a lease ends.
        """
        self.counts = Counts()
        self.turns = Turns(most_running, self.counts)
        self.ttl, self.most = ttl, most
        self.closing = False
        self._held: dict[str, Lease] = {}
        self._taken = 0
        self._ending: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Environments that exist, also those that are being made or closed."""
        return self._taken

    @asynccontextmanager
    async def place(self) -> AsyncIterator[Callable[[ClawEnv], Lease]]:
        """A place for one more environment; what it yields turns the environment into a lease.

        Raises:
            BusyError: if all are taken.
        """
        if self._taken >= self.most:
            self.counts.refused += 1
            raise BusyError("every environment that this server may hold is leased")
        if self.closing:
            raise InfrastructureError("the server is shutting down")
        self._taken += 1
        kept = False

        def keep(env: ClawEnv) -> Lease:
            nonlocal kept
            kept = True
            lease = Lease(env, self.turns, self.counts, ttl=self.ttl, expired=self._expired)
            self._held[lease.id] = lease
            self.counts.leases += 1
            return lease

        try:
            yield keep
        finally:
            if not kept:
                self._taken -= 1

    def find(self, lease_id: str) -> Lease | None:
        """The lease of that id."""
        return self._held.get(lease_id)

    def _expired(self, lease: Lease) -> None:
        self.counts.expired += 1
        log.warning("a lease expired: no word from its client for %g s", self.ttl)
        self._end(lease.id)

    def _end(self, lease_id: str) -> "asyncio.Task[None] | None":
        lease = self._held.pop(lease_id, None)
        if lease is None:
            return None
        task = asyncio.create_task(self._close(lease))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def _close(self, lease: Lease) -> None:
        try:
            await lease.close()
        except Exception:
            log.exception("an environment could not be closed")  # the others must be
        finally:
            self._taken -= 1

    async def end(self, lease_id: str) -> None:
        """Close the environment of a lease; does nothing where there is none."""
        task = self._end(lease_id)
        if task is not None:
            await asyncio.shield(task)

    async def end_all(self) -> None:
        """Lease no more, and close everything."""
        self.closing = True
        for lease_id in list(self._held):
            self._end(lease_id)
        await asyncio.gather(*self._ending)
