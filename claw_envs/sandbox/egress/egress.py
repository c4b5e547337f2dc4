"""What a sandbox with an allow-list of hosts has in place of a network: a proxy on its loopback, served by its owner.

The sandbox's network namespace has no route to anywhere. The one socket that listens in it was made there by a helper
and belongs to the owner, whose event loop answers: names are resolved and connections are made outside, so that nothing
which bypasses the proxy arrives anywhere. Programs find it by the usual variables; those that know none reach nothing.

Not covered: what an allowed host does with what it is sent, and other names that the same host serves (see `proxy`).
"""

import asyncio
import errno
import functools
import resource
import socket
import subprocess
import sys

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.egress import listen
from claw_envs.sandbox.egress.connect import Refusal
from claw_envs.sandbox.egress.proxy import refuse, serve
from claw_envs.sandbox.egress.rules import Rules
from claw_envs.sandbox.egress.wire import Wire
from claw_envs.sandbox.process.child import Child, first_of

PORT = 3128
MOST_CONNECTIONS = 64
"""Of one sandbox at a time; what comes on top is answered 503."""
_ENTER_TIMEOUT = 20.0
_URL = f"http://127.0.0.1:{PORT}"
_LOCAL = "localhost,127.0.0.1"
_open_connections: set[asyncio.Task[None]] = set()
"""Of all sandboxes of this process."""


class Egress:
    """The proxy of one sandbox. Used on one event loop.

    Args:
        hosts: the allow-list, as `rules` describes its entries.

    Raises:
        UserError: naming an entry that makes no sense.
    """

    env = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _URL)
    env |= {"no_proxy": _LOCAL, "NO_PROXY": _LOCAL}
    """Variables by which programs in the sandbox find the proxy. `localhost` is the sandbox's own to them: a service on
    this machine's loopback that the list allows is reached with the proxy named by hand, or by another name."""

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self._rules = Rules(hosts)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self, netns_pid: int) -> None:
        """Listen inside the network namespace of a process, whose loopback must be up, and serve until `close`.

        Raises:
            InfrastructureError: if nothing can listen there.
            UserError: if this user may not enter the namespace.
        """
        listener = await _listen(netns_pid)
        self._server = await asyncio.start_server(self._accept, sock=listener)

    async def close(self) -> None:
        """Stop listening and end every connection. May be called again."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        agent = Wire(reader, writer, agent=True)
        if self._server is None or len(self._connections) >= 2 * MOST_CONNECTIONS:
            agent.abort()
            return
        full = len(self._connections) >= MOST_CONNECTIONS or len(_open_connections) >= _most_open()
        too_many = Refusal(503, "too many connections at a time: close some")
        task = asyncio.ensure_future(refuse(agent, too_many) if full else serve(agent, self._rules))
        for tasks in (self._connections, _open_connections):
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        task.add_done_callback(lambda _: agent.abort())


@functools.cache
def _most_open() -> int:
    """Connections that leave half of this process's descriptors to others; each has two."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4


async def _listen(pid: int) -> socket.socket:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-I", "-S", listen.__file__, str(pid), str(PORT)]
        child = Child(command, env={}, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            await first_of(child.ended, timeout=_ENTER_TIMEOUT)
        finally:
            child.kill_tree()
            await child.ended
        theirs.close()
        said, fds, _, _ = socket.recv_fds(ours, 4096, 1)
    if fds:
        return socket.socket(fileno=fds[0])
    number, _, text = said.decode().partition(" ")
    if number in (str(errno.EPERM), str(errno.EACCES)):
        raise UserError(f"an allow-list of hosts needs root, or a sandbox of this user's own: {text}")
    raise InfrastructureError(f"the sandbox's proxy cannot listen: {text or 'the helper gave no answer'}")
