"""Requests that two readers could read differently, and targets that hide another host."""

from typing import Any

from tests.claw_envs.sandbox.egress.conftest import World

SITE = "localhost:PORT"
HOST = "Host: localhost:PORT\r\n"
EVIL = f"GET http://127.0.0.1:PORT/evil HTTP/1.1\r\n{HOST}\r\n"


def first_line(answer: bytes) -> bytes:
    return answer.partition(b"\r\n")[0]


NO_TARGETS = [
    "GET / HTTP/1.1",
    "GET https://localhost:PORT/ HTTP/1.1",
    "GET ftp://localhost:PORT/ HTTP/1.1",
    "GET unix:/var/run/docker.sock HTTP/1.1",
    "GET http+unix://%2Fvar%2Frun%2Fdocker.sock/ HTTP/1.1",
    "GET http://localhost:PORT@127.0.0.1:PORT/ HTTP/1.1",
    "GET http://user:pass@localhost:PORT/ HTTP/1.1",
    "GET http://127.0.0.1:PORT#@localhost:PORT/ HTTP/1.1",
    "GET http://localhost:PORT\\@127.0.0.1/ HTTP/1.1",
    "GET http://localhost%00.example.org:PORT/ HTTP/1.1",
    "GET http://localhost:PORT:PORT/ HTTP/1.1",
    "GET http://[localhost]:PORT/ HTTP/1.1",
    "GET http://localhost:PORT/ HTTP/1.1 HTTP/1.1",
    "GET  http://localhost:PORT/ HTTP/1.1",
    "GET http://localhost:PORT/ HTTP/2.0",
    "GET http://localhost:PORT/",
    "PRI * HTTP/2.0",
    "CONNECT / HTTP/1.1",
    "CONNECT localhost HTTP/1.1",
    "CONNECT http://localhost:PORT/ HTTP/1.1",
    "CONNECT localhost:PORT/evil HTTP/1.1",
    "CONNECT user@localhost:PORT HTTP/1.1",
    "CONNECT /var/run/docker.sock:80 HTTP/1.1",
    "\x16\x03\x01\x02\x00\x01",
]


def test_a_target_that_is_none_is_refused(world: Any) -> None:
    async def body(world: World) -> None:
        for request_line in NO_TARGETS:
            answer = await world.ask(f"{request_line}\r\n{HOST}\r\n")
            assert first_line(answer).startswith((b"HTTP/1.1 400", b"HTTP/1.1 505")), request_line
            assert not world.site.received, request_line

    world(body, SITE)


AMBIGUOUS = [
    "Host: example.org\r\n",
    "Host: localhost\r\n",
    "Host: localhost:PORT\r\nHost: example.org\r\n",
    "Host: localhost:PORT, example.org\r\n",
    "Host: localhost:PORT/\r\n",
    "Host:\r\n",
    "",
    HOST + "Content-Length: 1\r\nContent-Length: 2\r\n",
    HOST + "Content-Length: +1\r\n",
    HOST + "Content-Length: 0x1\r\n",
    HOST + "Transfer-Encoding: xchunked\r\n",
    HOST + "Transfer-Encoding: chunked, identity\r\n",
    HOST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    HOST + "Transfer-Encoding : chunked\r\n",
    HOST + "Bad Header: x\r\n",
    HOST + "X: a\rEvil: b\r\n",
    HOST + "X: \0\r\n",
]


def test_headers_that_can_be_read_in_two_ways_are_refused(world: Any) -> None:
    async def body(world: World) -> None:
        for headers in AMBIGUOUS:
            answer = await world.ask(f"POST http://localhost:PORT/ HTTP/1.1\r\n{headers}\r\n")
            assert first_line(answer).startswith((b"HTTP/1.1 400", b"HTTP/1.1 501")), headers
            assert not world.site.received, headers

    world(body, SITE)


def test_a_header_block_without_end_is_bounded(world: Any) -> None:
    async def body(world: World) -> None:
        answer = await world.ask(f"GET http://localhost:PORT/ HTTP/1.1\r\n{HOST}X: {'x' * 100_000}")
        assert first_line(answer).startswith(b"HTTP/1.1 431")
        assert not world.site.received

    world(body, SITE)


def test_a_second_request_on_the_connection_goes_nowhere(world: Any) -> None:
    async def body(world: World) -> None:
        answer = await world.ask(f"GET http://localhost:PORT/ HTTP/1.1\r\n{HOST}\r\n{EVIL}")
        assert answer.endswith(b"hello")
        assert answer.count(b"HTTP/1.1") == 1
        assert len(world.site.received) == 1
        assert b"evil" not in world.site.received[0]

    world(body, SITE)


def test_a_request_hidden_in_a_body_stays_a_body(world: Any) -> None:
    evil = EVIL.replace("PORT", "10000")
    hidden = f"POST http://localhost:PORT/ HTTP/1.1\r\n{HOST}Content-Length: {len(evil) + 10}\r\n"
    hidden += f"Transfer-Encoding: chunked\r\n\r\n{len(evil):x}\r\n{evil}\r\n0\r\n\r\n"

    async def body(world: World) -> None:
        assert (await world.ask(hidden)).endswith(b"hello")
        head, _, sent = bytes(world.site.received[0]).partition(b"\r\n\r\n")
        assert b"content-length" not in head.lower()
        assert sent == f"{len(evil):x}\r\n{evil}\r\n0\r\n\r\n".encode()

    world(body, SITE)


def test_what_concerns_one_connection_is_dropped_and_the_framing_is_not(world: Any) -> None:
    request = (
        f"POST http://LOCALHOST:PORT HTTP/1.1\r\n{HOST}Connection: keep-alive, X-Secret, Host, Content-Length\r\n"
        "X-Secret: 1\r\nX-Kept: 2\r\nKeep-Alive: 5\r\nTE: trailers\r\nUpgrade: websocket\r\nProxy-Connection: close\r\n"
        "Proxy-Authorization: Basic eA==\r\nContent-Length: 4\r\n\r\nbody"
    )

    async def body(world: World) -> None:
        answer = await world.ask(request)
        assert b"close" in answer
        assert b"keep-alive" not in answer.lower()
        head, _, sent = bytes(world.site.received[0]).partition(b"\r\n\r\n")
        lines = [b"POST / HTTP/1.1", b"Host: localhost:%d" % world.site.port]
        assert head.lower().split(b"\r\n") == [
            *(line.lower() for line in lines), b"x-kept: 2", b"content-length: 4", b"connection: close"
        ]  # fmt: skip
        assert sent == b"body"

    world(body, SITE, answer=b"HTTP/1.1 200 OK\r\nConnection: keep-alive, X-A\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok")


def test_a_folded_header_becomes_one_line(world: Any) -> None:
    async def body(world: World) -> None:
        await world.ask(f"GET http://localhost:PORT/ HTTP/1.1\r\n{HOST}X: a\r\n Transfer-Encoding: chunked\r\n\r\n")
        assert b"x: a transfer-encoding: chunked\r\n" in bytes(world.site.received[0]).lower()

    world(body, SITE)


def test_more_than_the_answer_is_not_passed_on(world: Any) -> None:
    async def body(world: World) -> None:
        answer = await world.ask(f"GET http://localhost:PORT/ HTTP/1.1\r\n{HOST}\r\n")
        assert answer.endswith(b"\r\n\r\nok")

    world(body, SITE, answer=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\nmore")


def test_an_upgrade_by_the_host_is_refused(world: Any) -> None:
    async def body(world: World) -> None:
        upgrade = f"GET http://localhost:PORT/ HTTP/1.1\r\n{HOST}Connection: upgrade\r\nUpgrade: x\r\n\r\n"
        assert first_line(await world.ask(upgrade)).startswith(b"HTTP/1.1 502")

    world(body, SITE, answer=b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nraw")
