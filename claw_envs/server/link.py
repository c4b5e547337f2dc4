"""A lease from the client's side: one WebSocket on the shared background loop, with heartbeats whatever the agent does.

A connection that drops is made again, and what was not answered is sent again under its key. Once the server no longer
knows the lease, or cannot be reached for a while, the lease is lost, and with it the episode.
"""

import asyncio
import logging
import random
from typing import NoReturn

import aiohttp

from claw_envs.core.errors import InfrastructureError
from claw_envs.reason import reason
from claw_envs.server import wire

log = logging.getLogger("claw_envs.server")

_BEATS = 3  # within the time in which the server would give the lease up
_CLOSE_SECONDS = 30.0
_RESTARTING = aiohttp.WSCloseCode.SERVICE_RESTART
_TOO_BIG = aiohttp.WSCloseCode.MESSAGE_TOO_BIG


class LeaseLostError(InfrastructureError):
    """The environment is gone, or no longer answers; a new lease is needed."""


class Link:
    """One lease; used on the shared loop only. `close` it, or it is kept alive for ever."""

    def __init__(
        self, url: str, granted: wire.Granted, headers: dict[str, str], *, reconnect: float, busy: float
    ) -> None:
        """
        Args:
            url: of the server.
            headers: for every request.
            reconnect: seconds to go on trying to reach the server.
            busy: seconds that a call waits in all while the server has no turn for it.
        """
        self._url = f"{url}/v1/lease"
        self._interval, self._reconnect, self._busy = granted.ttl / _BEATS, reconnect, busy
        self._session = aiohttp.ClientSession(
            headers=headers | {wire.LEASE: granted.id}, timeout=aiohttp.ClientTimeout(total=_CLOSE_SECONDS)
        )
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._open: dict[int, tuple[bytes, asyncio.Future[wire.Result | wire.Fault]]] = {}
        self._key = 0
        self._lost: LeaseLostError | None = None
        self._keeping = asyncio.create_task(self._keep())

    async def call(self, call: wire.Call, *, timeout: float) -> wire.Result:
        """Have `call` executed once, whatever becomes of connections; its key is set here.

        Args:
            timeout: seconds for the execution.

        Raises:
            LeaseLostError: if no answer can be had any more, or none came in time.
            Exception: what the environment raised.
        """
        self._key += 1
        call.key = self._key
        data, waited = wire.encode(call), 0.0
        if len(data) > wire.LARGEST_REQUEST:
            raise InfrastructureError(f"{len(data)} bytes in one message: servers take {wire.LARGEST_REQUEST}")
        while True:
            reply = await self._exchange(call.key, data, timeout)
            if isinstance(reply, wire.Result):
                return reply
            if reply.retry_after is None:
                raise wire.error_of(reply)
            if waited >= self._busy:
                raise InfrastructureError(f"{self._url}: {reply.text}, for {waited:.0f} s")
            pause = reply.retry_after * random.uniform(0.1, 1.0)
            waited += reply.retry_after + pause
            await asyncio.sleep(pause)

    async def close(self) -> None:
        """Give the lease back. May be called again; a server that does not answer lets it expire."""
        held = self._lost is None
        self._lose("the environment was closed")
        self._keeping.cancel()
        await asyncio.wait({self._keeping})
        try:
            if held:
                async with self._session.delete(self._url, allow_redirects=False):
                    pass
        except (aiohttp.ClientError, OSError) as error:  # a time-out is an OSError
            log.warning("%s: a lease could not be given back, it will expire: %s", self._url, error)
        finally:
            await self._session.close()

    async def _exchange(self, key: int, data: bytes, timeout: float) -> wire.Result | wire.Fault:
        if self._lost is not None:
            raise self._lost
        answer: asyncio.Future[wire.Result | wire.Fault] = asyncio.get_running_loop().create_future()
        self._open[key] = data, answer
        try:
            async with asyncio.timeout(timeout):
                await self._send(data)
                return await answer
        except (TimeoutError, asyncio.CancelledError) as error:
            self._tell(wire.Cancel(key=key))
            if isinstance(error, asyncio.CancelledError):
                raise
            raise LeaseLostError(f"{self._url}: no answer within {timeout:g} s") from None
        finally:
            del self._open[key]

    async def _send(self, data: bytes) -> None:
        """Now, or when the connection is there again."""
        if self._socket is not None:
            try:
                async with asyncio.timeout(self._interval):
                    await self._socket.send_bytes(data)
            except (aiohttp.ClientError, OSError):  # a time-out is an OSError
                self._socket = None

    def _tell(self, request: wire.Cancel) -> None:
        task = asyncio.create_task(self._send(wire.encode(request)))
        self._telling = task  # the loop itself holds tasks only weakly

    async def _keep(self) -> None:
        """Hold the connection until the lease is lost or closed."""
        try:
            while True:
                async with await self._connect() as socket:
                    self._socket = socket
                    for data, _ in list(self._open.values()):
                        await self._send(data)
                    await self._read(socket)
                self._socket = None
        except (LeaseLostError, ValueError) as error:  # or an answer that cannot be read
            self._lose(str(error))
        finally:
            self._socket = None

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        pause, loop = 0.02, asyncio.get_running_loop()
        deadline = loop.time() + self._reconnect
        while True:
            try:
                return await self._session.ws_connect(
                    self._url, max_msg_size=wire.LARGEST_REPLY, timeout=aiohttp.ClientWSTimeout(ws_close=1.0)
                )
            except aiohttp.WSServerHandshakeError as error:
                if error.status < 500:
                    self._gone(f"HTTP {error.status}")
                why = f"HTTP {error.status}"
            except (aiohttp.ClientError, OSError) as error:  # a time-out is an OSError
                why = reason(error)
            if loop.time() + pause > deadline:
                raise LeaseLostError(f"{self._url}: the environment server cannot be reached: {why}")
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(1.0, 2 * pause)

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Hand out replies, and beat, until the connection ends or is dead."""
        asked = False
        while True:
            try:
                message = await socket.receive(timeout=self._interval)
            except TimeoutError:
                if asked or self._socket is None:
                    return
                asked = True
                await self._send(wire.encode(wire.Beat()))
                continue
            asked = False
            if message.type is aiohttp.WSMsgType.BINARY:
                self._hand_out(wire.read_reply(message.data))
            elif socket.close_code in (wire.GONE, wire.REPLACED, _RESTARTING, _TOO_BIG):
                self._gone(f"the server closed the connection with code {socket.close_code}")
            else:
                return

    def _hand_out(self, reply: wire.Reply) -> None:
        if not isinstance(reply, wire.Beat) and reply.key in self._open:
            _, answer = self._open[reply.key]
            if not answer.done():
                answer.set_result(reply)

    def _gone(self, reason: str) -> NoReturn:
        raise LeaseLostError(f"{self._url}: the server no longer has this environment: {reason}")

    def _lose(self, reason: str) -> None:
        self._lost = self._lost or LeaseLostError(reason)
        for _, answer in self._open.values():
            if not answer.done():
                answer.set_exception(self._lost)
