"""`claw serve envs`: the environment server as a process; or on the shared background loop of another program."""

import asyncio
import logging
import resource
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

import uvicorn

from claw_envs.core.errors import UserError
from claw_envs.core.loop import begin_on_shared
from claw_envs.server import wire
from claw_envs.server.app import create_app
from claw_envs.server.guard import LOOPBACK, PromptProtocol, read_key
from claw_envs.server.leases import Leases
from claw_envs.server.offer import Offer

_GRACE = 5  # seconds for open connections at shutdown, before environments are closed
_FILES = 65536  # open files at most; each environment needs a few


def serve(
    *,
    host: str,
    port: int,
    key_file: Path | None,
    families: Sequence[str],
    fixed: dict[str, Any],
    sources: Sequence[str],
    choices: Sequence[str],
    max_leases: int,
    max_running: int,
    lease_ttl: float,
    warm: int,
) -> None:
    """Serve until SIGTERM or SIGINT, then close every environment.

    Args:
        host: address to bind to.
        port: 0 for any that is free; the one taken is printed.
        key_file: holds the API key; see `read_key`.
        families: see `Offer`, also for `fixed`, `sources`, `choices` and `warm`.
        max_leases: see `Leases`, also for `max_running` and `lease_ttl`.

    Raises:
        UserError: impossible arguments, or the address cannot be bound to.
    """
    key = read_key(key_file)
    if key is None and host not in LOOPBACK:
        raise UserError(f"--host {host} lets other machines in: set {wire.KEY_VARIABLE}, or give --api-key-file")
    offer = Offer(families=families, fixed=fixed, sources=sources, choices=choices, warm=warm)
    asyncio.run(offer.check())
    leases = Leases(most=max_leases, most_running=max_running, ttl=lease_ttl)
    listening = _listen(host, port)
    # uvicorn raises the signal once more after its shutdown
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    said = f"serving {', '.join(offer.families)} on {_url(host, listening)}"
    _Server(offer, leases, key=key, began=lambda: print(said, flush=True)).run(sockets=[listening])


class BackgroundServer:
    """A server on the shared background loop, beside whatever else this process does. `stop` it, or its sandboxes end
    only with the process."""

    def __init__(self, offer: Offer, leases: Leases, *, host: str, key: str) -> None:
        """
        Args:
            host: address to bind to, with a port that is free.

        Raises:
            UserError: the address cannot be bound to.
        """
        began: Future[None] = Future()
        listening = _listen(host, 0)
        self.url = _url(host, listening)
        self._server = _Server(offer, leases, key=key, began=lambda: began.set_result(None))
        self._running = begin_on_shared(self._server.serve(sockets=[listening]))
        wait([began, self._running], return_when=FIRST_COMPLETED)
        if self._running.done():
            self._running.result()

    def stop(self) -> None:
        """Close every environment, then the server. Blocks until that is done; may be called again."""
        self._server.should_exit = True
        self._running.result()


class _Server(uvicorn.Server):
    """Says when it answers, and may be stopped."""

    def __init__(self, offer: Offer, leases: Leases, *, key: str | None, began: Callable[[], None]) -> None:
        _raise_file_limit()
        logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.WARNING)
        config = uvicorn.Config(
            create_app(offer, leases, key=key),
            http=PromptProtocol,
            ws="websockets-sansio",
            ws_max_size=wire.LARGEST_REQUEST,
            ws_per_message_deflate=False,  # a few bytes must not unpack to gigabytes; and it costs time
            limit_concurrency=2 * leases.most + 64,
            timeout_graceful_shutdown=_GRACE,
            log_config=None,
            access_log=False,
            server_header=False,
        )
        super().__init__(config)
        self._began = began

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        await super().startup(sockets)
        self._began()


def _url(host: str, listening: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def _listen(host: str, port: int) -> socket.socket:
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        raise UserError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    return listening


def _raise_file_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES), hard))
