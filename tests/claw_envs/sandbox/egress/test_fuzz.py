"""Random damage to requests and answers: every connection is answered or closed, and no bug shows."""

import asyncio
import random

from claw_envs.sandbox.egress.proxy import serve
from claw_envs.sandbox.egress.rules import Rules
from claw_envs.sandbox.egress.wire import Wire

TARGET = "localhost:PORT"
REQUESTS = [
    f"GET http://{TARGET}/x HTTP/1.1\r\nHost: {TARGET}\r\n\r\n",
    f"HEAD http://{TARGET}/x HTTP/1.0\r\n\r\n",
    f"POST http://{TARGET}/ HTTP/1.1\r\nHost: {TARGET}\r\nContent-Length: 5\r\nConnection: content-length\r\n\r\nhello",
    f"POST http://{TARGET}/ HTTP/1.1\r\nHost: {TARGET}\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    "5\r\nhello\r\n0\r\n\r\n",
    f"CONNECT {TARGET} HTTP/1.1\r\nHost: {TARGET}\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    f"GET http://{TARGET}/ HTTP/1.1\r\nHost: {TARGET}\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
]
ANSWERS = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nabc",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
]
PIECES = [b"\r\n", b"\0", b"\n", b": ", b" ", b"\xff\xfe", b"@", b"#", b"chunked", b"HEAD ", b"\r\n\r\n"]
SEEDS = range(400)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """`data` with some bytes changed, left out, put in or repeated."""
    found = bytearray(data)
    for _ in range(chance.choice([0, 1, 1, 2, 5])):
        at = chance.randrange(len(found) + 1)
        match chance.randrange(4):
            case 0:
                found[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del found[at : at + chance.randrange(1, 8)]
            case 2:
                found[at:at] = chance.choice(PIECES)
            case _:
                found[at:at] = found[max(0, at - 9) : at]
    return bytes(found)


def test_whatever_comes_every_connection_ends_and_no_bug_shows() -> None:
    bugs: list[Exception] = []

    async def main() -> set[bytes]:
        chance = random.Random(0)

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1000)
            writer.write(damaged(chance.choice(ANSWERS), chance))
            writer.close()

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await serve(Wire(reader, writer, agent=True), rules)
            except Exception as error:
                bugs.append(error)
            writer.transport.abort()

        async def ask(seed: int) -> bytes:
            own = random.Random(seed)
            request = damaged(own.choice(REQUESTS).replace("PORT", str(port)).encode(), own)
            reader, writer = await asyncio.open_connection("127.0.0.1", entry.sockets[0].getsockname()[1])
            try:
                writer.write(request)
                writer.write_eof()
                return (await asyncio.wait_for(reader.read(), 60))[:12]
            except ConnectionError:
                return b""
            finally:
                writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as site:
            port = site.sockets[0].getsockname()[1]
            rules = Rules([f"localhost:{port}"])
            async with await asyncio.start_server(proxy, "127.0.0.1", 0) as entry:
                return set(await asyncio.gather(*map(ask, SEEDS)))

    heads = asyncio.run(main())
    assert {
        b"HTTP/1.1 200",
        b"HTTP/1.1 400",
        b"HTTP/1.1 403",
        b"HTTP/1.1 502",
    } <= heads  # the control: all of it happens
    assert not bugs
