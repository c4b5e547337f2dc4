"""The proxy of a sandbox: what gets through, what does not, and what ends it."""

import asyncio
import os
import socket
import time
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.egress import Egress, egress, proxy, wire
from tests.claw_envs.sandbox.egress.conftest import World

SITE = "localhost:PORT"


def lookups(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Make every name resolve to `addresses`, one after the other, the last for ever; names that were asked for."""
    asked: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        address = addresses[min(len(asked), len(addresses)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


@pytest.mark.parametrize(
    "command",
    [
        "curl -sS http://localhost:PORT/",
        "curl -sS --proxytunnel http://localhost:PORT/",
        "curl -sS -d 'some data' http://localhost:PORT/",
        'python3 -c \'import urllib.request as u; print(u.urlopen("http://localhost:PORT/").read().decode(), end="")\'',
    ],
)
def test_programs_reach_an_allowed_host_by_the_usual_variables(world: Any, command: str) -> None:
    async def body(world: World) -> None:
        assert (await world.sh(command)).output == "hello"

    world(body, SITE)


def test_an_address_is_allowed_as_an_address(world: Any) -> None:
    async def body(world: World) -> None:
        assert (await world.sh("curl -sS http://127.0.0.1:PORT/")).output == "hello"
        assert "not allowed" in (await world.sh("curl -sS http://localhost:PORT/")).output

    world(body, "127.0.0.1:PORT")


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:1", "example.org", "localhost", "127.1:PORT", "0:PORT"])
def test_a_host_that_is_not_in_the_list_is_refused_with_one_line(world: Any, host: str) -> None:
    async def body(world: World) -> None:
        for request in (f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n", f"CONNECT {host} HTTP/1.0\r\n\r\n"):
            head, _, text = (await world.ask(request)).partition(b"\r\n\r\n")
            assert head.startswith((b"HTTP/1.1 403 ", b"HTTP/1.1 400 "))
            assert text.endswith(b"\n")
            assert text.count(b"\n") == 1
        assert not world.site.received

    world(body, SITE)


def test_nothing_arrives_that_bypasses_the_proxy(world: Any) -> None:
    async def body(world: World) -> None:
        assert (await world.sh("curl -sS http://localhost:PORT/")).output == "hello"  # the control
        for host in ("127.0.0.1", "localhost", "::1", "10.0.0.1", "192.0.2.1"):
            assert (await world.sh(f"exec 3<>/dev/tcp/{host}/PORT")).exit_code != 0
        assert (await world.sh("curl -sS --noproxy '*' http://localhost:PORT/")).exit_code == 7
        assert len(world.site.received) == 1
        assert (await world.sh("tail -n +2 /proc/net/route | grep -v ^lo")).output == ""

    world(body, SITE)


def test_a_large_body_passes_both_ways_and_chunks_too(world: Any) -> None:
    size = 3_000_000
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (size, b"x" * size)

    async def body(world: World) -> None:
        send = f"head -c {size} /dev/zero | curl -sS -T - -H Expect: http://localhost:PORT/ | wc -c"
        assert (await world.sh(send)).output == f"{size}\n"
        assert world.site.received[0].count(0) == size

    world(body, SITE, answer=answer)


def test_who_waits_for_a_continue_gets_it(world: Any) -> None:
    async def body(world: World) -> None:
        done = await world.sh("curl -sS -v -H 'Expect: 100-continue' -d data http://localhost:PORT/ 2>&1")
        assert "HTTP/1.1 100 Continue" in done.output
        assert b"expect" not in bytes(world.site.received[0]).lower()

    world(body, SITE)


def test_a_host_that_does_not_answer_or_speaks_no_http(world: Any) -> None:
    async def body(world: World) -> None:
        url = "http://localhost:PORT/"
        assert b" 502 " in await world.ask(f"GET {url} HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n")
        with socket.create_server(("127.0.0.1", 0)) as unused:
            closed = unused.getsockname()[1]
        other = Egress((f"localhost:{closed}",))
        await world.egress.close()
        await other.start(world.sandbox._holder.pid)
        assert b" 502 " in await world.ask(f"CONNECT localhost:{closed} HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await other.close()

    world(body, SITE, answer=b"SSH-2.0-nonsense\r\n\r\n")


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "127.0.0.2", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"]
)
def test_an_allowed_name_cannot_lead_to_the_owners_network(
    world: Any, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    async def body(world: World) -> None:
        lookups(monkeypatch, address)
        answer = await world.ask("CONNECT rebound.example:PORT HTTP/1.1\r\nHost: rebound.example:PORT\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert b"is not public" in answer
        assert not world.site.received

    world(body, "rebound.example:PORT")


def test_a_name_is_resolved_once_and_the_address_that_was_checked_is_used(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(world: World) -> None:
        asked = lookups(monkeypatch, "127.0.0.1", "169.254.169.254")
        get = "GET http://rebound.example:PORT/ HTTP/1.1\r\nHost: rebound.example:PORT\r\n\r\n"
        assert (await world.ask(get)).endswith(b"hello")  # the control: the address is in the list itself
        assert asked == ["rebound.example"]
        assert (await world.ask(get)).startswith(b"HTTP/1.1 403 ")

    world(body, "rebound.example:PORT", "127.0.0.1:PORT")


def test_connections_are_bounded_and_come_back(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
import socket
def connect():
    return socket.create_connection(("127.0.0.1", 3128), 30)
def ask(s):
    s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    return s.recv(1000).split()[1].decode()
held = [connect() for _ in range(3)]
print(ask(connect()))
held.pop().shutdown(socket.SHUT_WR)
for s in held:
    print(ask(s))
while (code := ask(connect())) == "503":
    pass
print(code)
"""

    async def body(world: World) -> None:
        monkeypatch.setattr(egress, "MOST_CONNECTIONS", 3)
        assert (await world.python(script)).output.split() == ["503", "400", "400", "400"]
        await world.egress.close()
        assert not egress._open_connections

    world(body, SITE)


def test_the_connections_of_all_sandboxes_leave_descriptors_to_others(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(world: World) -> None:
        assert (await world.sh("curl -sS http://localhost:PORT/")).output == "hello"  # the control
        monkeypatch.setattr(egress, "_most_open", lambda: 0)
        assert "too many connections" in (await world.sh("curl -sS http://localhost:PORT/")).output

    world(body, SITE)


def test_a_slow_request_is_ended(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "_HEAD_TIMEOUT", 0.1)

    async def body(world: World) -> None:
        assert await world.ask("GET http://localhost:PORT/ HTTP/1.1\r\n") == b""

    world(body, SITE)


def test_an_idle_connection_is_ended(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (proxy, wire):
        monkeypatch.setattr(module, "IDLE_TIMEOUT", 0.1)

    async def body(world: World) -> None:
        get = "GET http://localhost:PORT/ HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n"
        assert b" 504 " in await world.ask(get)
        assert b" 200 " in await world.ask("CONNECT localhost:PORT HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n")

    world(body, SITE, answer=b"")


def test_close_ends_everything(world: Any) -> None:
    tunnel = (
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT localhost:PORT HTTP/1.0\\r\\n\\r\\n' >&3; "
        "read -u 3 line; printf 'x\\r\\n\\r\\n' >&3; cat <&3; echo over"
    )

    async def body(world: World) -> None:
        before = len(os.listdir("/proc/self/fd"))
        running = asyncio.ensure_future(world.sh(tunnel))
        await asyncio.wait_for(world.site.reached.wait(), 30)
        assert world.egress._connections
        await world.egress.close()
        await world.egress.close()
        assert (await running).output.endswith("over\n")
        await asyncio.wait_for(world.site.ended.wait(), 30)
        assert not world.egress._connections
        assert (await world.sh("exec 3<>/dev/tcp/127.0.0.1/3128")).exit_code != 0
        assert len(os.listdir("/proc/self/fd")) < before  # the listener has gone

    world(body, SITE, answer=b"")


def test_each_sandbox_has_its_own_list(world: Any) -> None:
    async def outer(first: World) -> None:
        second = type(first.sandbox)(first.sandbox.spec)
        await second.start()
        other = Egress(("example.org",))
        await other.start(second._holder.pid)
        try:
            here = World(second, other, first.site)
            assert (await first.sh("curl -sS http://localhost:PORT/")).output == "hello"
            assert "not allowed" in (await here.sh("curl -sS http://localhost:PORT/")).output
        finally:
            await other.close()
            await second.close()

    world(outer, SITE)


def test_it_outlives_a_reset(world: Any) -> None:
    async def body(world: World) -> None:
        await world.sandbox.reset()
        assert (await world.sh("curl -sS http://localhost:PORT/")).output == "hello"

    world(body, SITE)


def test_what_holds_the_port_already_is_ours_to_report(world: Any) -> None:
    async def body(world: World) -> None:
        with pytest.raises(InfrastructureError, match="cannot listen"):
            await Egress(()).start(world.sandbox._holder.pid)

    world(body, SITE)


def test_a_dead_sandbox_is_reported() -> None:
    with pytest.raises(InfrastructureError, match="cannot listen"):
        asyncio.run(Egress(()).start(2**22 + 1))


def test_an_empty_list_allows_nothing(world: Any) -> None:
    async def body(world: World) -> None:
        assert "only: nothing" in (await world.sh("curl -sS http://localhost:PORT/")).output

    world(body)


def test_slow_name_servers_hold_up_nobody_else(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release = asyncio.Event()

    async def body(world: World) -> None:
        monkeypatch.setattr("claw_envs.sandbox.egress.connect._RESOLVE_TIMEOUT", 0.1)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(0.5))
        answer = await world.ask("CONNECT slow.example:443 HTTP/1.1\r\nHost: slow.example\r\n\r\n")
        assert b"has no address" in answer
        assert await asyncio.to_thread(lambda: "free") == "free"
        release.set()

    world(body, "slow.example")
    assert release.is_set()
