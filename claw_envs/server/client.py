"""What a remote environment asks its servers over HTTP: to describe the environment, and for leases.

Several servers share the load in turn; one that is full or down is passed over for the next. Which they are may change
meanwhile: who starts and restarts them gives a function that finds them.
"""

import asyncio
import itertools
import os
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

import aiohttp
import msgspec

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.reason import reason
from claw_envs.server import wire
from claw_envs.server.link import LeaseLostError, Link

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 600.0  # the first to ask for a task set waits until the server has loaded it

_turn = itertools.count(random.randrange(2**16))  # processes that begin together begin at different servers
_T = TypeVar("_T")


@dataclass(frozen=True)
class Servers:
    """Where environments can be had just now."""

    urls: Sequence[str]
    key: str | None = field(repr=False)
    """Their API key."""


FindServers = Callable[[], Awaitable[Servers]]
"""Asked again before every lease, on the shared loop; waits for a first server, or raises InfrastructureError."""


class _Full(InfrastructureError):  # noqa: N818 - an answer, not a fault
    """The server has no place; to be asked again after `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("the server has no place")
        self.retry_after = retry_after


class _SilentError(InfrastructureError):
    """The server does not answer."""


class Client:
    """One environment's side of the conversation; used on the shared loop only."""

    def __init__(
        self,
        servers: str | Sequence[str] | FindServers,
        family: str,
        settings: dict[str, Any],
        *,
        lease_timeout: float,
        reconnect_timeout: float,
    ) -> None:
        """
        Args:
            servers: base URLs; one text may hold several, with commas. Or what finds them.
            settings: for the environment's constructor.
            lease_timeout: seconds to wait for a place on a server, and for a turn on it.
            reconnect_timeout: seconds for which a server may be out of reach before the lease is lost.

        Raises:
            UserError: if a server is no URL, or a setting cannot be sent.
        """
        self._listed = not callable(servers)
        self._find = servers if callable(servers) else _listed(servers)
        self._wanted = wire.Wanted(family=family, settings=settings)
        try:
            wire.encode(self._wanted)
        except NotImplementedError as error:
            raise UserError(f"settings for a server are plain values: {error}") from None
        self._lease_timeout, self._reconnect_timeout = lease_timeout, reconnect_timeout
        self._link: Link | None = None
        self._process = os.getpid()

    async def describe(self, known: wire.Description | None = None) -> wire.Description:
        """`known`, or what the first server says that answers.

        Raises:
            UserError: if the server does not offer such an environment, or not to this client; if none answers of
                those that the user listed.
            InfrastructureError: if one answers, but cannot tell; if none answers that was found.
        """
        if known is not None:
            self._wanted.digest = known.digest
            return known
        down: list[InfrastructureError] = []
        servers = await self._find()
        for url in servers.urls:
            try:
                description = await self._post(url, servers.key, "describe", wire.read_description)
            except InfrastructureError as error:
                down.append(error)
            else:
                self._wanted.digest = description.digest
                return description
        mistaken = self._listed and all(isinstance(error, _SilentError) for error in down)
        kind = UserError if mistaken else InfrastructureError
        raise kind("; ".join(map(str, down)))

    async def reset(self, call: wire.Reset, *, timeout: float) -> wire.Result:
        """`call` in the lease at hand, or in a new one where there is none or its server has lost it.

        Raises:
            InfrastructureError: if no server has a place, or the one that had is lost.
            Exception: what the environment raised.
        """
        self._forget_parents()
        if self._link is not None:
            try:
                return await self.call(call, timeout=timeout)
            except LeaseLostError:
                pass  # between two episodes: nothing is lost with it
        self._link = await self._lease()
        return await self.call(call, timeout=timeout)

    async def call(self, call: wire.Call, *, timeout: float) -> wire.Result:
        """`call` in the lease at hand.

        Raises:
            InfrastructureError: if the lease is lost.
            Exception: what the environment raised.
        """
        self._forget_parents()
        if self._link is None:
            raise LeaseLostError("there is no environment: reset first")
        try:
            return await self._link.call(call, timeout=timeout)
        except LeaseLostError:
            await self.release()
            raise

    async def release(self) -> None:
        """Give the lease back. May be called again."""
        self._forget_parents()
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def _forget_parents(self) -> None:
        """After a fork the lease is the parent process's."""
        if self._process != os.getpid():
            self._process, self._link = os.getpid(), None

    async def _lease(self) -> Link:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._lease_timeout
        first = next(_turn)
        while True:
            pauses: list[float] = []
            down: list[InfrastructureError] = []
            servers = await self._find()
            for i in range(len(servers.urls)):
                url = servers.urls[(first + i) % len(servers.urls)]
                try:
                    granted = await self._post(url, servers.key, "leases", _granted)
                except _Full as full:
                    pauses.append(full.retry_after)
                except InfrastructureError as error:
                    down.append(error)
                else:
                    return self._linked(url, servers.key, granted)
            if not pauses:
                raise InfrastructureError("; ".join(map(str, down)))
            pause = min(pauses) * random.uniform(0.5, 1.5)
            if loop.time() + pause > deadline:
                raise InfrastructureError(f"no place on {', '.join(servers.urls)} within {self._lease_timeout:g} s")
            await asyncio.sleep(pause)

    def _linked(self, url: str, key: str | None, granted: wire.Granted) -> Link:
        return Link(url, granted, _headers(key), reconnect=self._reconnect_timeout, busy=self._lease_timeout)

    async def _post(self, url: str, key: str | None, path: str, read: Callable[[bytes], _T]) -> _T:
        limits = aiohttp.ClientTimeout(total=_ANSWER_SECONDS, sock_connect=_CONNECT_SECONDS)
        headers = _headers(key) | {"Content-Type": wire.CONTENT_TYPE}
        try:
            async with (
                aiohttp.ClientSession(timeout=limits, headers=headers) as session,
                session.post(f"{url}/v1/{path}", data=wire.encode(self._wanted), allow_redirects=False) as response,
            ):
                body = await response.read()
        except (aiohttp.ClientError, OSError) as error:  # a time-out is an OSError
            raise _SilentError(
                f"{url} does not answer ({reason(error)}): is `claw serve envs` running there?"
            ) from None
        if response.status != 200:
            _refused(url, response.status, body, response.headers)
        try:
            return read(body)
        except ValueError:
            raise UserError(f"{url}: an unreadable answer - is this `claw serve envs`, of this version?") from None


_granted = msgspec.msgpack.Decoder(wire.Granted).decode


def _listed(servers: str | Sequence[str]) -> FindServers:
    given = servers.split(",") if isinstance(servers, str) else list(servers)
    urls = [url.strip().rstrip("/") for url in given]
    if not urls or not all(url.startswith(("http://", "https://")) for url in urls):
        raise UserError(f"server must be the URL of `claw serve envs`, e.g. http://127.0.0.1:8700, got {servers!r}")

    async def find() -> Servers:
        return Servers(urls, os.environ.get(wire.KEY_VARIABLE, "").strip() or None)

    return find


def _headers(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _refused(url: str, status: int, body: bytes, headers: Any) -> NoReturn:
    if status == 401:
        raise UserError(f"{url} refused the API key: set {wire.KEY_VARIABLE} to the server's")
    if status == 429:
        seconds = headers.get("Retry-After", "")
        raise _Full(float(seconds) if seconds.isdecimal() else 1.0)
    try:
        fault = msgspec.msgpack.decode(body, type=wire.Fault)
    except msgspec.DecodeError:
        said = f"{url}: HTTP {status}: {body[:200].decode(errors='replace')}"
        kind = InfrastructureError if status >= 500 else UserError
        raise kind(f"{said} - is this `claw serve envs`?") from None
    raise wire.error_of(fault)
