"""`EngineHttp`: JSON over HTTP with one server, every call with a deadline, its faults told apart.

What may be asked again is asked again: a lost connection, a half or unreadable answer, 408, 429 and 5xx. It does not
stream, and it knows nothing of what engines say.
"""

import asyncio
import random
import re
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import msgspec

from claw_envs.core.errors import ContextFull, InfrastructureError, UserError
from trainers.policies.engines.base import (
    EngineDownError,
    EngineLostError,
    EngineRefusedError,
    EngineSlowError,
    NoRouteError,
)

if TYPE_CHECKING:
    import aiohttp

INSIST = 3
"""Retries of a call that must arrive, whatever its client does with requests."""
_LONGEST_PAUSE = 5.0  # seconds between two attempts
_CONNECT_SECONDS = 10.0
_NO_ROUTE = '{"detail":"Not Found"}'  # as FastAPI says it, in which both engines are written
_CONTEXT_FULL = re.compile(
    r"maximum context|context[ _-](?:length|size|window)|longer than the max|max_model_len", re.IGNORECASE
)
T = TypeVar("T")


class _TransientError(Exception):
    """Worth another attempt.

    Attributes:
        busy: whether the server is there and says that it is not ready.
        lost: whether the connection broke after the request was sent.
    """

    def __init__(self, reason: str, *, busy: bool = False, lost: bool = False) -> None:
        super().__init__(reason)
        self.busy, self.lost = busy, lost


class EngineHttp:
    """Connections to one server. Use it from one event loop."""

    def __init__(self, url: str, *, api_key: str | None = None, retries: int = 3, backoff: float = 0.2) -> None:
        """
        Args:
            url: of the server, without a path.
            api_key: sent as bearer token where given.
            retries: further attempts of a call. A server that says that it is not ready (429, 503) is asked until the
                deadline, unless this is 0.
            backoff: seconds before the first retry, doubled at each further one, with jitter.

        Raises:
            UserError: for impossible arguments.
        """
        if not url.startswith(("http://", "https://")):
            raise UserError(f"an engine's URL begins with http:// or https://, got {url!r}")
        if "@" in urlsplit(url).netloc:  # it would be shown in errors and logs
            raise UserError("leave user and password out of an engine's URL: pass api_key")
        if retries < 0 or backoff < 0:
            raise UserError("retries and backoff must be at least 0")
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._retries, self._backoff = retries, backoff
        self._open: aiohttp.ClientSession | None = None
        self._closed = False

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        answer: type[T],
        timeout: float,
        query: dict[str, str] | None = None,
        retries: int | None = None,
    ) -> T:
        """Send `body` as JSON and read the answer as `answer`; bytes are given as they come.

        Args:
            body: or a function that makes one for each attempt.
            timeout: seconds for all attempts and pauses together.
            retries: None for the client's own, 0 for what must not be done twice.

        Raises:
            EngineDownError: if no sound answer came; `EngineLostError`, `EngineSlowError` where more is known.
            EngineRefusedError: if the server refused this request.
            ContextFull: if it refused it for its length.
            UserError: if the server wants another key.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        fault = ""
        allowed = self._retries if retries is None else retries
        try:
            async with asyncio.timeout_at(deadline):
                attempt = 0
                while True:
                    try:
                        made = body() if callable(body) else body
                        return await self._attempt(method, path, made, answer, query)
                    except _TransientError as error:
                        fault = f"{error}"
                        patient = error.busy and allowed > 0
                        if attempt >= allowed and not patient:
                            kind = EngineLostError if error.lost else EngineDownError
                            raise kind(f"{self.url}{path}: {fault} (attempts: {attempt + 1})") from None
                    attempt += 1
                    await asyncio.sleep(
                        min(_LONGEST_PAUSE, self._backoff * 2 ** min(attempt, 10)) * random.uniform(0.5, 1.0)
                    )
        except TimeoutError:
            said = f"; last: {fault}" if fault else ""
            raise EngineSlowError(f"{self.url}{path}: no answer within {timeout:g} s{said}") from None

    async def answers(self, path: str, *, timeout: float) -> bool:
        """Whether the server says yes to a question within `timeout` seconds."""
        try:
            await self.call("GET", path, answer=bytes, timeout=timeout, retries=0)
        except (InfrastructureError, UserError):
            return False
        return True

    async def aclose(self) -> None:
        """Close the connections for good. May be called again."""
        self._closed = True
        if self._open is not None:
            await self._open.close()
            self._open = None

    async def _attempt(self, method: str, path: str, body: Any, answer: type[T], query: dict[str, str] | None) -> T:
        session = self._session()
        import aiohttp

        data = None if body is None else msgspec.json.encode(body)
        try:
            async with session.request(
                method, self.url + path, data=data, params=query, allow_redirects=False
            ) as response:
                payload = await response.read()
                if response.status != 200:
                    self._refused(path, response.status, payload)
        except (aiohttp.ClientError, OSError) as error:
            lost = not isinstance(error, aiohttp.ClientConnectorError)
            raise _TransientError(f"cannot be reached: {error or type(error).__name__}", lost=lost) from error
        if answer is bytes:
            return payload  # type: ignore[return-value]
        try:
            return msgspec.json.decode(payload, type=answer)
        except msgspec.DecodeError as error:
            raise _TransientError(f"unreadable answer: {error}") from error

    def _session(self) -> "aiohttp.ClientSession":
        if self._closed:  # or what is still under way would open connections that nobody closes
            raise EngineDownError(f"{self.url}: its client was closed")
        if self._open is None:
            try:
                import aiohttp
            except ImportError:
                raise UserError('asking an engine needs aiohttp: pip install "claw-envs[llm]"') from None
            self._open = aiohttp.ClientSession(
                headers=self._headers | {"Content-Type": "application/json"},
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
                connector=aiohttp.TCPConnector(limit=0),  # how much is in flight is the caller's decision
            )
        return self._open

    def _refused(self, path: str, status: int, payload: bytes) -> NoReturn:
        said = " ".join(payload.decode(errors="replace").split())
        shown = f"{self.url}{path}: HTTP {status}: {said[:300]}"
        if status in (401, 403):
            raise UserError(f"{self.url} refused the API key (HTTP {status}): pass a valid api_key")
        if status in (408, 429) or status >= 500:
            raise _TransientError(f"HTTP {status}: {said[:300]}", busy=status in (429, 503))
        if status == 404 and said == _NO_ROUTE:
            raise NoRouteError(shown)
        raise (ContextFull if _CONTEXT_FULL.search(said) else EngineRefusedError)(shown)
