"""OSWorld's in-VM HTTP protocol, from the outside: one machine, every answer bounded in time and size.

What only reads is asked again where the connection broke or the answer was broken; what acts is never sent twice. A
machine that was started anew since the first answer is told by the identity that our own server sends with each answer.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.desktop.inside.names import IDENTITY, SECRET
from claw_envs.reason import reason

if TYPE_CHECKING:
    import aiohttp

_T = TypeVar("_T")
_CONNECT_TIMEOUT = 5.0
_ATTEMPTS, _PAUSE = 3, 0.2
"""Of what only reads; the pause doubles."""
TIMEOUT = 30.0
"""Seconds for an answer that no command holds up."""
MOST_BYTES = 64 << 20
_MOST_FILE_BYTES = 512 << 20
_SERVER_FAULT = 500


class RefusedError(Exception):
    """The machine answered, and says that it cannot do what was asked."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        super().__init__(text)


class OsworldClient:
    """Speaks to one machine. Use on any event loop, by one caller at a time."""

    def __init__(self, url: str, *, secret: str = "") -> None:
        """
        Args:
            url: of the machine's server, such as `http://10.0.0.5:5000`.
            secret: that our own server was started with.
        """
        self.url = url.rstrip("/")
        self._headers = {SECRET: secret} if secret else {}
        self.identity: str | None = None
        """Of the server that answered first; None before, and where it is not one of ours."""
        self._known = False
        self.failed = False
        """Whether the machine was lost, answered wrongly to the last, or may still be at what nobody waits for."""

    async def get(self, path: str, read: Callable[[bytes], _T], *, timeout: float = TIMEOUT) -> _T:
        """A GET, which is repeated where it fails, or where `read` raises InfrastructureError over its answer."""
        try:
            return await self._again(lambda: self._send("GET", path, timeout=timeout), read, timeout)
        except RefusedError as error:
            raise self.lost(f"{path} fails: {error}") from error

    async def ask(
        self, path: str, read: Callable[[bytes], _T], *, form: Mapping[str, str] | None = None, body: Any = None
    ) -> _T:
        """A POST that only reads; see `get`.

        Args:
            form: fields of a form; None: `body` as JSON.

        Raises:
            RefusedError: if the machine refuses it.
        """
        content = {"data": dict(form)} if form is not None else {"json": body or {}}
        most = _MOST_FILE_BYTES if form is not None else MOST_BYTES
        return await self._again(lambda: self._send("POST", path, timeout=TIMEOUT, most=most, **content), read, TIMEOUT)

    async def act(self, path: str, body: Any, read: Callable[[bytes], _T], *, timeout: float = TIMEOUT) -> _T:
        """A POST that changes something, which is sent once. Where it is cancelled, it may still go on over there.

        Raises:
            RefusedError: if the machine refuses it.
            TimeoutError: if it took the connection, and does not answer in time.
        """
        try:
            return read(await self._send("POST", path, timeout=timeout, json=body))
        except (InfrastructureError, asyncio.CancelledError):
            self.failed = True
            raise

    async def upload(self, path: str, data: bytes) -> None:
        """Write a file; doing it again changes nothing.

        Raises:
            RefusedError: if the machine cannot write it.
        """
        import aiohttp

        def form() -> "aiohttp.FormData":
            fields = aiohttp.FormData()
            fields.add_field("file_path", path)
            fields.add_field("file_data", data, filename=path.rpartition("/")[2] or "file")
            return fields

        timeout = TIMEOUT + len(data) / 1e6
        await self._again(lambda: self._send("POST", "/setup/upload", timeout=timeout, data=form()), bytes, timeout)

    async def _again(self, send: Callable[[], Awaitable[bytes]], read: Callable[[bytes], _T], timeout: float) -> _T:
        """Send until it works; what has timed out is not sent again, as there is no time left."""
        for attempt in range(_ATTEMPTS):
            try:
                return read(await send())
            except TimeoutError:
                raise self.lost(f"no answer within {timeout:g} s") from None
            except RefusedError as error:
                if error.status < _SERVER_FAULT or attempt == _ATTEMPTS - 1:
                    raise
            except InfrastructureError:
                if attempt == _ATTEMPTS - 1:
                    self.failed = True
                    raise
            await asyncio.sleep(_PAUSE * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    async def _send(self, method: str, path: str, *, timeout: float, most: int = MOST_BYTES, **content: Any) -> bytes:
        try:
            import aiohttp
        except ImportError as error:
            raise UserError('OSWorld machines need aiohttp: pip install "claw-envs[gui]"') from error
        limits = aiohttp.ClientTimeout(total=timeout, sock_connect=min(_CONNECT_TIMEOUT, timeout))
        try:
            async with (
                aiohttp.ClientSession(timeout=limits, headers=self._headers, auto_decompress=False) as session,
                session.request(method, self.url + path, allow_redirects=False, **content) as response,
            ):
                body = await self._read(response, most)
        except aiohttp.ConnectionTimeoutError as error:
            raise self.fault("it cannot be reached") from error
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise self.fault(reason(error)) from error
        self._check_identity(response.headers.get(IDENTITY))
        if response.status != 200:
            raise RefusedError(response.status, _message(body))
        return body

    async def _read(self, response: "aiohttp.ClientResponse", most: int) -> bytes:
        kept = bytearray()
        async for piece in response.content.iter_chunked(1 << 16):
            kept += piece
            if len(kept) > most:
                raise self.fault(f"its answer to {response.url.path} is over {most} bytes long")
        return bytes(kept)

    def _check_identity(self, identity: str | None) -> None:
        if self._known and identity != self.identity:
            raise self.fault("it was started anew in mid-episode")
        self.identity, self._known = identity, True

    def lost(self, said: str) -> InfrastructureError:
        """An error that names the machine, which has failed now."""
        self.failed = True
        return self.fault(said)

    def fault(self, said: str) -> InfrastructureError:
        """An error that names the machine, over one answer, which may be asked for again."""
        return InfrastructureError(f"the OSWorld machine at {self.url}: {said}")

    def read_json(self, body: bytes) -> Any:
        """An answer that should be JSON.

        Raises:
            InfrastructureError: if it is something else.
        """
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise self.fault(f"it answers {body[:60]!r} where JSON should be") from None

    def read_size(self, body: bytes) -> tuple[int, int] | None:
        """A width and a height; None where the answer is empty. See `read_json`."""
        found = self.read_json(body)
        if not found:
            return None
        try:
            return int(found["width"]), int(found["height"])
        except (ArithmeticError, LookupError, TypeError, ValueError):
            raise self.fault(f"it answers {body[:60]!r} where a size should be") from None

    def read_point(self, body: bytes) -> tuple[int, int]:
        """Two coordinates; see `read_json`."""
        try:
            x, y = self.read_json(body)
            return int(x), int(y)
        except (ArithmeticError, TypeError, ValueError):
            raise self.fault(f"it answers {body[:60]!r} where a point should be") from None

    def read_object(self, body: bytes) -> dict[str, Any]:
        """An answer that should be a JSON object; see `read_json`."""
        found = self.read_json(body)
        if not isinstance(found, dict):
            raise self.fault(f"it answers {body[:60]!r} where a JSON object should be")
        return found


def _message(body: bytes) -> str:
    """What a refusal says: the message of its JSON, or its text."""
    text = body[:2000].decode(errors="replace")
    try:
        said = json.loads(body)
    except ValueError:
        return text
    if isinstance(said, dict):
        return str(said.get("message") or said.get("error") or text)
    return text
