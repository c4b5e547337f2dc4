"""Who may talk to the server: checked for every request and WebSocket before anything else of it is read.

The API key, compared in constant time, and never logged. Browsers are turned away, so that a page which a user of this
machine opens cannot use a server on loopback: they send `Origin`, and a name that was rebound to 127.0.0.1 shows in
`Host`. Encryption is not covered: put a TLS proxy or a tunnel before a server that other machines reach.
"""

import asyncio
import hmac
import os
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import h11
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from claw_envs.core.errors import UserError
from claw_envs.server import wire

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SHORTEST_KEY = 16
_LARGEST_BODY = 2**20
PATIENCE = 10.0
"""Seconds for the head of a request, and again for its body."""


def read_key(file: Path | None) -> str | None:
    """The server's API key: from `file`, else from the environment, else None.

    Raises:
        UserError: if the file cannot be read, or the key is too short to be one.
    """
    try:
        # taken out of the environment: programs that environments start have no use for it
        said = os.environ.pop(wire.KEY_VARIABLE, "") if file is None else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--api-key-file {file} cannot be read: {error}") from None
    key = said.strip()
    if not key and file is None:
        return None
    if len(key) < _SHORTEST_KEY or not key.isascii() or not key.isprintable():
        raise UserError(f"the API key needs {_SHORTEST_KEY} ASCII characters or more: make one by openssl rand -hex 32")
    return key


class Guard:
    """ASGI middleware; see the module. `/health` needs no key."""

    def __init__(self, app: ASGIApp, *, key: str | None) -> None:
        self._app = app
        self._key = None if key is None else _digest(f"Bearer {key}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope, Headers(scope=scope))
        if refusal is not None:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close"})  # before it was accepted: answers the handshake with 403
            else:
                await refusal(scope, receive, send)
            return

        async def closing(message: Message) -> None:
            # one request a connection: none is held open between requests, for nothing
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        await self._app(scope, receive, closing)

    def _refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        close = {"connection": "close"}
        if "origin" in headers:
            return PlainTextResponse("not for browsers", status_code=403, headers=close)
        if self._key is None:
            if _host(headers.get("host", "")) in LOOPBACK:
                return None
            return PlainTextResponse("not this machine", status_code=403, headers=close)
        given = _digest(headers.get("authorization", ""))
        if scope["path"] == "/health" or hmac.compare_digest(given, self._key):
            return None
        return PlainTextResponse("wrong or missing API key", status_code=401, headers=close)


def _host(header: str) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None


def _digest(text: str) -> bytes:
    """Of equal length whatever was sent."""
    return sha256(text.encode("utf-8", "surrogateescape")).digest()


async def body_of(request: Request) -> bytes:
    """The body of a request, bounded in size and time.

    Raises:
        ValueError: if it is too large, too slow, or not declared as msgpack.
    """
    if request.headers.get("content-type") != wire.CONTENT_TYPE:
        raise ValueError(f"the body must be {wire.CONTENT_TYPE}")
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            async for chunk in request.stream():
                body += chunk
                if len(body) > _LARGEST_BODY:
                    raise ValueError(f"the body is larger than {_LARGEST_BODY} bytes")
    except TimeoutError:
        raise ValueError("the body came too slowly") from None
    return bytes(body)


class PromptProtocol(H11Protocol):
    """HTTP connections that must send the head of a request within seconds, or are closed; so are those too many.

    A connection costs an open file, and environments need some.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self._overdue = self.loop.call_later(PATIENCE, self._close_idle)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._overdue.cancel()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """See `H11Protocol`."""
        self._overdue.cancel()
        super().handle_websocket_upgrade(event)

    def _close_idle(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self.transport.abort()
