import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.namespace.backend import NamespaceSandbox

_ASK = """
import sys, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())
except OSError as error:
    print(type(error).__name__)
"""


@contextlib.asynccontextmanager
async def _site() -> AsyncIterator[int]:
    """A host on the owner's loopback; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("user", ["agent", "verifier"])
def test_an_allow_list_lets_through_what_is_on_it_and_nothing_else(in_sandbox: Callable[..., Any], user: str) -> None:
    # a sandbox knows its hosts before it starts, and the port only the running site does
    async def main(sandbox: NamespaceSandbox) -> list[str]:
        seen = []
        async with _site() as allowed, _site() as other:
            granted = NamespaceSandbox(SandboxSpec(network=(f"localhost:{allowed}",)))
            await granted.start()
            try:
                for run in (granted, sandbox):
                    for port in (allowed, other):
                        argv = ["/usr/bin/python3", "-c", _ASK, f"http://localhost:{port}"]
                        env = {"no_proxy": "", "NO_PROXY": ""}
                        seen.append((await run.exec(argv, timeout=60, env=env, user=user)).output.strip())
                await granted.reset()
                argv = ["/usr/bin/python3", "-c", _ASK, f"http://localhost:{allowed}"]
                seen.append((await granted.exec(argv, timeout=60, env=env, user=user)).output.strip())
            finally:
                await granted.close()
        return seen

    assert in_sandbox(main) == ["hello", "HTTPError", "URLError", "URLError", "hello"]


_CONNECT = """
import socket, sys
for host in sys.argv[1:]:
    try:
        socket.create_connection((host, 80), timeout=0.2)
    except OSError as error:
        print(type(error).__name__, error)
"""


def test_without_a_network_one_address_is_silent_and_others_refuse_at_once(in_sandbox: Callable[..., Any]) -> None:
    async def body(sandbox: NamespaceSandbox) -> str:
        argv = ["/usr/bin/python3", "-c", _CONNECT, "10.255.255.1", "10.255.255.2"]
        return (await sandbox.exec(argv, timeout=60)).output

    assert in_sandbox(body) == "TimeoutError timed out\nOSError [Errno 101] Network is unreachable\n"


def test_the_proxys_variables_are_in_the_shell_and_the_spec_goes_before_them(in_sandbox: Callable[..., Any]) -> None:
    async def body(sandbox: NamespaceSandbox) -> str:
        shell = await sandbox.shell()
        return (await shell.run("echo $https_proxy $no_proxy", timeout=30)).output

    assert in_sandbox(body, network=("example.org",), env={"no_proxy": "mine"}) == "http://127.0.0.1:3128 mine\n"


def test_a_list_that_makes_no_sense_is_the_users_mistake(in_sandbox: Callable[..., Any]) -> None:
    async def body(sandbox: NamespaceSandbox) -> None: ...

    with pytest.raises(UserError, match=r"http://example\.org"):
        in_sandbox(body, network=("http://example.org",))
