"""Attacks on an allow-list of hosts: only the proxy leads out, and only to what is in the list."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest

from tests.security.conftest import Attacker, attacker

FETCH = """
import os, sys
from urllib.request import ProxyHandler, build_opener
os.environ["no_proxy"] = ""
proxies = {name: "http://127.0.0.1:3128" for name in ("http", "https")} if sys.argv[1] == "proxy" else {}
try:
    print(build_opener(ProxyHandler(proxies)).open(sys.argv[2], timeout=10).read().decode(), end="")
except OSError as error:
    print(error)
"""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"{self.server.server_address[1]}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Confined(NamedTuple):
    """An agent with an allow-list of one host, and two hosts."""

    agent: Attacker
    allowed: int
    """Port of the host in the list, on the owner's loopback."""
    other: int
    """Port of a host that is not."""


def fetch(url: str, way: str = "proxy") -> str:
    """The command that fetches `url`, by the proxy or past it, and prints what comes or the error."""
    return f"/usr/bin/python3 -c '{FETCH}' {way} '{url}'"


@pytest.fixture(scope="module")
def confined(backend: str) -> Iterator[Confined]:
    """Shared by the tests of the module."""
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _Handler) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    allowed, other = (server.server_port for server in servers)
    try:
        with attacker(backend, network=(f"localhost:{allowed}", "127.0.0.2:1")) as agent:
            yield Confined(agent, allowed, other)
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


@pytest.fixture(autouse=True)
def _the_way_is_open(confined: Confined) -> None:
    """The control of every attack here: what is allowed works."""
    assert confined.agent(fetch(f"http://localhost:{confined.allowed}/")).output == f"{confined.allowed}\n"
    socket.create_connection(("127.0.0.1", confined.other)).close()


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:{other}/",
        "http://127.0.0.1:{allowed}/",
        "http://127.0.0.1:{other}/",
        "http://127.1:{other}/",
        "http://[::1]:{allowed}/",
        "http://[::ffff:127.0.0.1]:{other}/",
        "http://0.0.0.0:{other}/",
        "http://localhost.localdomain:{allowed}/",
        "http://sub.localhost:{allowed}/",
        "http://localhost/",
        "http://169.254.169.254/latest/meta-data/",
        "http://example.org/",
        "https://example.org/",
    ],
)
def test_the_proxy_leads_nowhere_else(confined: Confined, url: str) -> None:
    said = confined.agent(fetch(url.format(allowed=confined.allowed, other=confined.other))).output
    assert " 403" in said or " 400" in said


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "10.0.2.2", "172.17.0.1", "192.0.2.1"])
def test_direct_connections_arrive_nowhere(confined: Confined, address: str) -> None:
    for port in (confined.allowed, confined.other, 53, 80, 443):
        assert confined.agent(f"(exec 3<>/dev/tcp/{address}/{port})", timeout=10).exit_code != 0
        assert confined.agent(f"(exec 3<>/dev/udp/{address}/53 && echo x >&3 && read -t 0.1 -u 3)").exit_code != 0


def test_names_are_resolved_by_nobody_inside(confined: Confined) -> None:
    assert confined.agent("getent hosts example.org").exit_code != 0
    assert "urlopen error" in confined.agent(fetch(f"http://localhost:{confined.allowed}/", "direct")).output


def test_the_owners_other_sockets_are_not_there(confined: Confined) -> None:
    listening = confined.agent("cat /proc/net/tcp /proc/net/tcp6 | grep -c ' 0A '").output
    assert listening == "1\n"  # the proxy
    assert confined.agent("cat /proc/net/unix | grep -c @").output == "0\n"


def test_raw_sockets_and_routes_cannot_be_made(confined: Confined) -> None:
    raw = "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)"
    packet = "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"
    for script in (raw, packet):
        assert "Operation not permitted" in confined.agent(f"/usr/bin/python3 -c '{script}'").output
    assert confined.agent("ip link add x type dummy || ip route add default dev lo").exit_code != 0


def test_a_process_that_stays_behind_has_no_way_out_either(confined: Confined) -> None:
    """After the sandbox is reset the list is the same, and so are its limits."""
    run = confined.agent.run
    run(confined.agent.sandbox.reset())
    shell = run(confined.agent.sandbox.shell())
    try:
        for port, said in ((confined.allowed, f"{confined.allowed}\n"), (confined.other, " 403")):
            assert said in run(shell.run(fetch(f"http://localhost:{port}/"), timeout=30)).output
    finally:
        confined.agent._shell = shell
