"""Which hosts a sandbox may reach: the list as the task gives it.

An entry is a name (`example.org`: exactly that one), names below one (`*.example.org` or `.example.org`: any depth, not
the name itself) or an address (`93.184.216.34`, `[2606:2800::1]`), each with `:port` or else for 80 and 443.

A name may lead to public addresses only. Private, loopback, link-local and multicast ones, those of cloud metadata
services and this machine's own must stand in the list themselves, loopback maybe as `localhost`: otherwise whoever owns
an allowed name's DNS records could point it into the owner's network.
"""

import ipaddress
import socket
from collections.abc import Sequence
from typing import NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.sandbox.egress.authority import Address, Authority

DEFAULT_PORTS = (80, 443)
_METADATA = ("168.63.129.16", "192.0.0.192")
"""Azure's and Oracle's, which pass for public; those of the other clouds are link-local, private or shared."""
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class _Entry(NamedTuple):
    host: str
    ports: tuple[int, ...]
    below: bool

    def covers(self, host: str, port: int) -> bool:
        named = host.endswith(f".{self.host}") if self.below else host == self.host
        return named and port in self.ports


class Rules:
    """The allow-list of one sandbox.

    Raises:
        UserError: naming the first entry that makes no sense.
    """

    def __init__(self, hosts: Sequence[str]) -> None:
        self.hosts = tuple(hosts)
        self._entries = [_parse(host) for host in hosts]

    def allows(self, host: str, port: int) -> bool:
        """Whether the list has this name or address, as `Authority` writes it, with this port."""
        return any(entry.covers(host, port) for entry in self._entries)

    def allows_address(self, address: Address, port: int) -> bool:
        """Whether an allowed name may lead to `address`."""
        if self.allows(str(address), port) or (address.is_loopback and self.allows("localhost", port)):
            return True
        return is_public(address) and not _is_this_machine(address)


def _parse(entry: str) -> _Entry:
    below = entry.startswith((".", "*."))
    name = entry.removeprefix("*").removeprefix(".") if below else entry
    try:
        host, port = Authority.parse(_bracketed(name.encode("idna").decode()))
        if below and Authority(host, None).address:
            raise ValueError("an address has no subdomains")
    except ValueError as error:
        raise UserError(
            f"network: `{entry}` is no host to allow: write example.org, *.example.org or an address, maybe with :port"
        ) from error
    return _Entry(host, DEFAULT_PORTS if port is None else (port,), below)


def _bracketed(text: str) -> str:
    """An IPv6 address as people write it where it stands alone, in the form that takes a port too."""
    return f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text


def is_public(address: Address) -> bool:
    """Whether `address` is one of the Internet's, and not a wrapping of another that is none."""
    if isinstance(address, ipaddress.IPv6Address):
        wrapped = address.sixtofour or (address.teredo or (None, None))[1]
        if address in _NAT64:
            wrapped = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped is not None:
            return is_public(wrapped)
        if address not in _GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast and str(address) not in _METADATA


def _is_this_machine(address: Address) -> bool:
    """Whether what is sent there stays here: then its route starts at the address itself. Sends nothing."""
    with socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(address), 9))
        except OSError:
            return False
        return bool(probe.getsockname()[0] == str(address))
