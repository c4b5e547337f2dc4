"""Host and port as one text, `example.org:443` or `[::1]:80`, read strictly and in one canonical form.

Not covered: user names, percent escapes, zone ids, and the short or hexadecimal forms of IPv4 addresses. A name that
looks like one of those is no name.
"""

import ipaddress
import re
from typing import NamedTuple

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_FORM = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?")
_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9_-]{0,61}[a-z0-9_])?")


class Authority(NamedTuple):
    """A host and, where one was given, a port."""

    host: str
    """A name in lower case without a dot at its end, or an address as `ipaddress` writes it."""
    port: int | None

    @classmethod
    def parse(cls, text: str) -> "Authority":
        """Read `text`.

        Raises:
            ValueError: if it is anything else than a host and maybe a port.

        >>> Authority.parse("Example.org.:443")
        Authority(host='example.org', port=443)
        >>> Authority.parse("[0::1]")
        Authority(host='::1', port=None)
        """
        form = _FORM.fullmatch(text)
        if form is None:
            raise ValueError(f"{text!r} is no host")
        port = int(form["port"]) if form["port"] else None
        if port is not None and not 0 < port < 65536:
            raise ValueError(f"{text!r} has no valid port")
        if form["v6"]:
            return cls(str(ipaddress.IPv6Address(form["v6"])), port)
        host = form["host"].lower().removesuffix(".")
        return cls(host if _NAME.fullmatch(host) else str(ipaddress.IPv4Address(host)), port)

    @property
    def address(self) -> Address | None:
        """The host, where it is an address."""
        return ipaddress.ip_address(self.host) if ":" in self.host or self.host[-1].isdigit() else None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"
