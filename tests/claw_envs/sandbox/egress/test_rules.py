"""Allow-lists as pure rules: names, ports, addresses."""

import ipaddress
import socket

import pytest

from claw_envs.core.errors import UserError
from claw_envs.sandbox.egress import Egress
from claw_envs.sandbox.egress.authority import Authority
from claw_envs.sandbox.egress.rules import Rules, is_public


@pytest.mark.parametrize(
    ("entry", "host", "port", "allowed"),
    [
        ("example.org", "example.org", 443, True),
        ("example.org", "example.org", 80, True),
        ("example.org", "example.org", 22, False),
        ("example.org", "www.example.org", 443, False),
        ("example.org", "badexample.org", 443, False),
        ("example.org", "example.org.evil.net", 443, False),
        ("Example.ORG.", "example.org", 443, True),
        ("*.example.org", "www.example.org", 443, True),
        (".example.org", "a.b.example.org", 443, True),
        (".example.org", "example.org", 443, False),
        (".example.org", "badexample.org", 443, False),
        ("example.org:8443", "example.org", 8443, True),
        ("example.org:8443", "example.org", 443, False),
        ("bücher.example", "xn--bcher-kva.example", 443, True),
        ("192.0.2.7", "192.0.2.7", 80, True),
        ("192.0.2.7", "192.0.2.70", 80, False),
        ("::1", "::1", 80, True),
        ("[0::1]:8080", "::1", 8080, True),
        ("[::1]:8080", "::1", 80, False),
    ],
)
def test_an_entry_allows_what_it_says(entry: str, host: str, port: int, allowed: bool) -> None:
    assert Rules([entry]).allows(host, port) is allowed


@pytest.mark.parametrize(
    "entry",
    [
        "", "*", ".", "*.", "https://example.org", "example.org/path", "user@example.org", "exa mple.org", "a..b",
        "example.org:0", "example.org:65536", "example.org:http", "example.org:", "foo.*.org", "*example.org",
        "10.0.0.0/8", "*.10.0.0.1", "300.1.1.1", "127.1", "0x7f000001", "2130706433", "[::1", "::1%eth0", "-x.org",
        "example.org\n", "x" * 64 + ".org",
    ],
)  # fmt: skip
def test_nonsense_is_the_users_mistake(entry: str) -> None:
    with pytest.raises(UserError, match="is no host to allow"):
        Egress((entry,))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1", "239.1.1.1", "255.255.255.255", "240.0.0.1",
        "198.18.0.1", "::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1", "::127.0.0.1",
        "2001:0:7f00:1::1", "100::1", "2001:db8::1",
    ],
)  # fmt: skip
def test_a_name_may_not_lead_to_an_address_that_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
    assert not Rules(["example.org"]).allows_address(ipaddress.ip_address(address), 443)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::1"]
)
def test_a_name_may_lead_to_a_public_address(address: str) -> None:
    assert Rules(["example.org"]).allows_address(ipaddress.ip_address(address), 443)


def test_an_address_of_this_machine_counts_as_private(monkeypatch: pytest.MonkeyPatch) -> None:
    address = ipaddress.ip_address("93.184.216.34")
    assert Rules(["example.org"]).allows_address(address, 443)  # the control
    with monkeypatch.context() as patch:
        patch.setattr(socket.socket, "connect", lambda self, where: None)
        patch.setattr(socket.socket, "getsockname", lambda self: (str(address), 1))
        assert not Rules(["example.org"]).allows_address(address, 443)


def test_an_address_that_is_itself_in_the_list_is_allowed_with_its_port() -> None:
    rules = Rules(["example.org", "10.0.0.1:8080", "localhost:9000"])
    assert rules.allows_address(ipaddress.ip_address("10.0.0.1"), 8080)
    assert not rules.allows_address(ipaddress.ip_address("10.0.0.1"), 443)
    assert rules.allows_address(ipaddress.ip_address("127.0.0.1"), 9000)
    assert rules.allows_address(ipaddress.ip_address("::1"), 9000)
    assert not rules.allows_address(ipaddress.ip_address("127.0.0.1"), 8080)


@pytest.mark.parametrize("text", ["example.org", "example.org:443", "[::1]:80", "192.0.2.7:80"])
def test_an_authority_is_written_as_it_was_read(text: str) -> None:
    assert str(Authority.parse(text)) == text
