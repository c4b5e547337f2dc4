"""One container engine: calls of the docker SDK in threads, with errors in our words, and raw connections for streams.

A call that has begun is waited for, also where its caller is cancelled, so that what it made is never unknown.
"""

import asyncio
import contextlib
import functools
import os
import ssl
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import urlsplit

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.reason import reason
from claw_envs.sandbox.docker.find import find_engine

_T = TypeVar("_T")
_TIMEOUT = 60
"""Seconds that the engine gets for one answer."""
_THREADS = 32
INSTALL = 'the docker sandbox needs the docker SDK: pip install "claw-envs[docker]"'


async def in_thread(threads: Executor, function: Callable[[], _T]) -> _T:
    """Run `function` in a thread, to its end also where the caller is cancelled."""
    done = asyncio.get_running_loop().run_in_executor(threads, function)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        while not done.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([done])
        if not done.cancelled():
            done.exception()  # whoever asked has gone
        raise


class RefusedError(InfrastructureError):
    """The engine answered, but does not do what was asked."""


class NotThereError(RefusedError):
    """The engine has no such container, image or exec."""


class SilentError(InfrastructureError):
    """The engine does not answer."""

    def __init__(self, url: str, error: Exception) -> None:
        super().__init__(
            f"the container engine at {url} does not answer ({reason(error)}): start it, or see `claw doctor`"
        )


class Engine:
    """A connection; calls may come from any event loop. Use `connect`.

    Args:
        url: `unix://` or `tcp://` address.

    Raises:
        UserError: if the docker SDK is missing.
        InfrastructureError: if the engine does not answer.
    """

    def __init__(self, url: str) -> None:
        try:
            import docker
            from docker.utils import kwargs_from_env
        except ImportError as error:
            raise UserError(INSTALL) from error
        self.url = url
        self._tls = kwargs_from_env().get("tls") if url.startswith("tcp://") else None
        self._threads = ThreadPoolExecutor(_THREADS, "engine")
        self.api: Any = self.explained(
            docker.APIClient, url, version="auto", timeout=_TIMEOUT, tls=self._tls or False, max_pool_size=_THREADS
        )
        self.api.headers["Connection"] = "close"  # a kept one may be dead after the engine was started again
        """The SDK's low-level client."""

    async def call(self, function: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
        """Run a call of the SDK in a thread.

        Raises:
            InfrastructureError: if the engine refuses or does not answer.
        """
        call = functools.partial(self.explained, function, *args, **kwargs)
        return await in_thread(self._threads, call)

    def explained(self, function: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
        """Run a call of the SDK here and now; see `call`."""
        from docker.errors import APIError, DockerException, NotFound
        from requests.exceptions import RequestException

        try:
            return function(*args, **kwargs)
        except NotFound as error:
            raise NotThereError(f"the container engine: {error.explanation}") from error
        except APIError as error:
            raise RefusedError(f"the container engine: {error.explanation}") from error
        except (DockerException, RequestException) as error:
            raise SilentError(self.url, error) from error

    async def stream(self, path: str, body: bytes, protocol: Callable[[], asyncio.Protocol]) -> None:
        """Connect `protocol` to the engine and post `body`; what it answers, and the stream after that, it receives.

        Raises:
            InfrastructureError: if the engine cannot be reached.
        """
        head = (
            f"POST /v{self.api.api_version}{path} HTTP/1.1\r\nHost: engine\r\nContent-Type: application/json\r\n"
            f"Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        place = urlsplit(self.url)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_TIMEOUT):
                if place.scheme == "unix":
                    transport, _ = await loop.create_unix_connection(protocol, place.path)
                else:
                    tls = self._tls_context()
                    transport, _ = await loop.create_connection(
                        protocol, str(place.hostname), int(place.port or 2375), ssl=tls
                    )
        except OSError as error:
            raise SilentError(self.url, error) from error
        transport.write(head.encode() + body)

    def _tls_context(self) -> ssl.SSLContext | None:
        if self._tls is None:
            return None
        context = ssl.create_default_context(cafile=self._tls.ca_cert)
        context.check_hostname = bool(self._tls.verify)
        if not self._tls.verify:
            context.verify_mode = ssl.CERT_NONE
        if self._tls.cert:
            context.load_cert_chain(*self._tls.cert)
        return context


@functools.cache
def _known(named: str) -> Engine:
    try:
        return Engine(find_engine()[0])
    except SilentError as error:  # later its loss is ours; that there never was one is the user's to change
        raise UserError(str(error)) from error


os.register_at_fork(after_in_child=_known.cache_clear)


def connect() -> Engine:
    """The engine of this machine's user. Blocks for a moment, the first time.

    Raises:
        UserError: if none answers, or the docker SDK is missing.
        InfrastructureError: if it refuses.
    """
    return _known(os.environ.get("DOCKER_HOST", ""))
