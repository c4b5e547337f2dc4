"""The proxy itself: one request on each connection, a CONNECT tunnel or plain HTTP/1.1 with an absolute target.

A plain request is written anew for the host: its target decides the host, `Host` must agree with it, headers that
concern one connection are dropped, and the connection ends with the response. What a tunnel carries is not looked at:
the name in a TLS handshake may differ from the tunnel's, so that a host which serves other names too (a content
network) serves those as well. No HTTP/2, no upgrades outside of tunnels, no UDP.
"""

import asyncio
import contextlib
import re
from collections.abc import Iterable

import h11

from claw_envs.sandbox.egress.authority import Authority
from claw_envs.sandbox.egress.connect import Refusal, connect
from claw_envs.sandbox.egress.rules import Rules
from claw_envs.sandbox.egress.wire import IDLE_TIMEOUT, Wire

_HEAD_TIMEOUT = 30.0
_LINGER_TIMEOUT = 2.0
_MOST_REASON = 200
_PLAIN_PORT = 80
_ABSOLUTE = re.compile(r"http://(?P<authority>[^/?#@]+)(?P<path>/[^#]*)?", re.IGNORECASE)
_OF_ONE_CONNECTION = frozenset(
    b"connection proxy-connection keep-alive te trailer upgrade proxy-authorization proxy-authenticate "
    b"proxy-authentication-info expect".split()
)
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
_CLOSE = (b"Connection", b"close")

Headers = list[tuple[bytes, bytes]]


async def serve(agent: Wire, rules: Rules) -> None:
    """Answer the one request of a connection. Ends quietly where the agent breaks it off."""
    try:
        async with asyncio.timeout(_HEAD_TIMEOUT):
            request = await agent.receive()
        if isinstance(request, h11.Request):
            await _proxy(agent, request, rules)
    except Refusal as refusal:
        await refuse(agent, refusal)
    except h11.RemoteProtocolError as error:
        await refuse(agent, Refusal(error.error_status_hint, f"not a request that this proxy understands: {error}"))
    except OSError:  # the agent is gone, or too slow
        return


async def refuse(agent: Wire, refusal: Refusal) -> None:
    """Answer with one line of text, unless an answer has begun."""
    if agent.http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
        return
    line = f"{refusal}\n".encode()
    headers = [(b"Content-Type", b"text/plain; charset=utf-8"), (b"Content-Length", b"%d" % len(line)), _CLOSE]
    reason = line.decode("ascii", "replace").strip()[:_MOST_REASON]  # all that many programs show of it
    with contextlib.suppress(OSError):
        await agent.send(h11.Response(status_code=refusal.status, headers=headers, reason=reason))
        with contextlib.suppress(h11.LocalProtocolError):  # after HEAD there is no body
            await agent.send(h11.Data(line))
        await _linger(agent)


async def _linger(agent: Wire) -> None:
    """Let the agent read the answer: a connection that is closed with unread data in it loses what was sent."""
    agent.write_end()
    try:
        async with asyncio.timeout(_LINGER_TIMEOUT):
            while await agent.read():
                pass
    except TimeoutError:
        return


async def _proxy(agent: Wire, request: h11.Request, rules: Rules) -> None:
    target, path = _target(request)
    host = Wire(*await connect(target, rules), agent=False)
    try:
        async with asyncio.timeout(IDLE_TIMEOUT) as idle:
            agent.idle = host.idle = idle
            if path is None:
                await _tunnel(agent, host)
            else:
                await _forward(agent, host, request, target, path)
    except h11.RemoteProtocolError as error:
        raise Refusal(502, f"{target} sent no valid answer: {error}") from error
    except TimeoutError as error:
        raise Refusal(504, f"{target} sent no answer in time") from error
    except OSError as error:
        raise Refusal(502, f"the connection to {target} was lost") from error
    finally:
        agent.idle = None
        host.abort()


def _target(request: h11.Request) -> tuple[Authority, bytes | None]:
    """Host with port, and what to ask it for; None for a tunnel."""
    said = request.target.decode("ascii", "replace")
    path: bytes | None = None
    try:
        if request.method == b"CONNECT":
            target = Authority.parse(said)
            port = target.port
        else:
            form = _ABSOLUTE.fullmatch(said)
            if form is None:
                raise ValueError(f"{said!r} is no http:// address")
            target = Authority.parse(form["authority"])
            port, path = target.port or _PLAIN_PORT, (form["path"] or "/").encode()
        named = [Authority.parse(value.decode()) for name, value in request.headers if name == b"host"]
    except ValueError as error:
        raise Refusal(400, f"this proxy takes CONNECT host:port and http://host/path: {error}") from error
    if request.http_version not in (b"1.0", b"1.1"):
        raise Refusal(505, "this proxy speaks HTTP/1.1")
    if port is None:
        raise Refusal(400, f"CONNECT {said}: the port is missing")
    named_port = port if path is None else _PLAIN_PORT
    if any((name.host, name.port or named_port) != (target.host, port) for name in named):
        raise Refusal(400, f"the request is for {target}, but its Host header says otherwise")
    return Authority(target.host, port), path


async def _tunnel(agent: Wire, host: Wire) -> None:
    await agent.send(h11.Response(status_code=200, headers=[], reason=b"Connection established"))
    await host.write(agent.http.trailing_data[0])
    await asyncio.gather(_pump(agent, host), _pump(host, agent))


async def _pump(source: Wire, sink: Wire) -> None:
    try:
        while data := await source.read():
            await sink.write(data)
        sink.write_end()
    except OSError:
        source.abort()
        sink.abort()


async def _forward(agent: Wire, host: Wire, request: h11.Request, target: Authority, path: bytes) -> None:
    where = Authority(target.host, None if target.port == _PLAIN_PORT else target.port)
    headers = [(b"Host", str(where).encode()), *_passed_on(request.headers, drop=b"host"), _CLOSE]
    await host.send(h11.Request(method=request.method, target=path, headers=headers))
    if agent.http.they_are_waiting_for_100_continue:
        await agent.send(h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue"))
    upload = asyncio.ensure_future(_upload(agent, host))
    try:
        await _download(host, agent)
    finally:
        upload.cancel()
        await asyncio.wait({upload})
    await _linger(agent)


async def _upload(agent: Wire, host: Wire) -> None:
    try:
        while isinstance(event := await agent.receive(), h11.Data):
            await host.send(h11.Data(bytes(event.data)))
        await host.send(h11.EndOfMessage())
    except h11.RemoteProtocolError:  # the agent has broken off
        host.abort()
    except OSError:  # the host takes no more, but may have answered
        return


async def _download(host: Wire, agent: Wire) -> None:
    event = await host.receive()
    while isinstance(event, h11.InformationalResponse):
        event = await host.receive()
    if not isinstance(event, h11.Response):
        raise h11.RemoteProtocolError("it closed the connection")
    headers = [*_passed_on(event.headers), _CLOSE]
    await agent.send(h11.Response(status_code=event.status_code, headers=headers, reason=event.reason))
    while isinstance(event := await host.receive(), h11.Data):
        await agent.send(h11.Data(bytes(event.data)))
    await agent.send(h11.EndOfMessage())


def _passed_on(headers: Iterable[tuple[bytes, bytes]], drop: bytes = b"") -> Headers:
    """Headers without those that concern one connection; the framing is what h11 has found to hold."""
    named = {word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")}
    dropped = _OF_ONE_CONNECTION | (named - _FRAMING) | {drop}
    if any(name == b"transfer-encoding" for name, _ in headers):
        dropped |= {b"content-length"}
    return [(name, value) for name, value in headers if name not in dropped]
