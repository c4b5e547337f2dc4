"""From an allowed host and port to a connection: the name is resolved once, by the owner, and what was checked is used.

Resolving has threads of its own, so that slow name servers hold up only the sandboxes that ask them.
"""

import asyncio
import functools
import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor

from claw_envs.sandbox.egress.authority import Address, Authority
from claw_envs.sandbox.egress.rules import Rules

_RESOLVE_TIMEOUT = 15.0
_CONNECT_TIMEOUT = 10.0
"""Seconds for each address."""
_MOST_ADDRESSES = 4
_RESOLVERS = 8

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Refusal(Exception):  # noqa: N818 - an answer, not an error
    """What the agent is told in place of a connection: an HTTP status and one line."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


async def connect(target: Authority, rules: Rules) -> Streams:
    """A connection to `target`, whose port is given.

    Raises:
        Refusal: if it is not allowed, or cannot be had.
    """
    assert target.port is not None
    if not rules.allows(target.host, target.port):
        raise Refusal(403, f"{target} is not allowed in this sandbox, only: {', '.join(rules.hosts) or 'nothing'}")
    for address in await _addresses(target, rules):
        try:
            async with asyncio.timeout(_CONNECT_TIMEOUT):
                return await asyncio.open_connection(str(address), target.port)
        except OSError:
            continue
    raise Refusal(502, f"{target} does not answer")


async def _addresses(target: Authority, rules: Rules) -> list[Address]:
    if target.address is not None:
        return [target.address]
    assert target.port is not None
    try:
        found = await asyncio.wait_for(_resolve(target.host, target.port), _RESOLVE_TIMEOUT)
    except OSError as error:
        raise Refusal(502, f"{target.host} has no address") from error
    allowed = [address for address in found if rules.allows_address(address, target.port)]
    if not allowed:
        raise Refusal(403, f"{target} leads to {found[0]}, which is not public and not allowed in this sandbox")
    return allowed[:_MOST_ADDRESSES]


async def _resolve(host: str, port: int) -> list[Address]:
    look_up = functools.partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    entries = await asyncio.get_running_loop().run_in_executor(_resolvers(), look_up)
    return [ipaddress.ip_address(entry[4][0]) for entry in entries]


@functools.cache
def _resolvers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_RESOLVERS, thread_name_prefix="egress")
