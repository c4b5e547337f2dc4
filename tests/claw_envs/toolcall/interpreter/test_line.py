"""Whatever comes over a line, nothing raises, memory is bounded, and each call gets its own answer or none."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from claw_envs.core.task import SandboxSpec
from claw_envs.toolcall.interpreter.line import Line, Reply


class Wire:
    """Stands for a sandbox and its terminal, where the test is the program inside."""

    spec = SandboxSpec(output_bytes=1000)

    def __init__(self) -> None:
        self.sink: Callable[[bytes], None]
        self.written: list[bytes] = []
        self.ended: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    async def terminal(self, command: str, *, sink: Callable[[bytes], None]) -> "Wire":
        self.sink = sink
        token = command.rpartition("    main()\n' ")[2].split()[0]
        sink(b"\0%s ready 0 0 0 0 0\n" % token.encode())
        return self

    async def write(self, data: bytes) -> None:
        self.written.append(data)

    async def close(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    @property
    def token(self) -> bytes:
        return self.written[-1].split()[0]


def talk(inside: Callable[[Wire], Any]) -> tuple[Reply | None, bool, int]:
    """The reply to a call that `inside` answers, whether the line lives, and the bytes that it holds."""

    async def main() -> tuple[Reply | None, bool, int]:
        wire: Any = Wire()
        line = await Line.open(wire)
        call = asyncio.ensure_future(line.ask("x", timeout=0.05))
        await asyncio.sleep(0)
        inside(wire)
        asyncio.get_running_loop().call_later(0.1, wire.ended.cancel)
        return await call, line.alive, len(line._held)

    return asyncio.run(main())


def answer(token: bytes, text: bytes = b"fine") -> bytes:
    return b"\0%s ok 0 0 0 %d 0\n" % (token, len(text)) + text


def test_an_answer_in_pieces_among_forgeries() -> None:
    def inside(wire: Wire) -> None:
        for forged in (answer(b"0123456789abcdef"), b"\0\0\n" * 9, answer(wire.token[:-1]), b"[ok]\n", b"\xff\xfe"):
            wire.sink(forged)
        for byte in answer(wire.token):
            wire.sink(bytes([byte]))
        wire.sink(answer(wire.token, b"late"))

    assert talk(inside)[0] == Reply("ok", 0, False, 0, b"fine", b"")


def test_an_answer_to_an_earlier_call_is_nobodys() -> None:
    async def main() -> list[bytes]:
        wire: Any = Wire()
        line = await Line.open(wire)
        heads = []
        for n in range(3):
            call = asyncio.ensure_future(line.ask("x", timeout=30))
            await asyncio.sleep(0)
            for old in wire.written[:-1]:
                wire.sink(answer(old.split()[0], b"old"))
            wire.sink(answer(wire.token, b"%d" % n))
            wire.sink(answer(wire.token, b"again"))
            reply = await call
            assert reply is not None
            heads.append(reply.head)
        return heads

    assert asyncio.run(main()) == [b"0", b"1", b"2"]


def test_a_flood_ends_the_line_and_is_not_kept() -> None:
    def inside(wire: Wire) -> None:
        for _ in range(10_000):
            wire.sink(b"x" * 65536)

    assert talk(inside) == (None, False, 0)


def test_noise_never_raises() -> None:
    rng = random.Random(7)

    def inside(wire: Wire) -> None:
        parts = [b"\0", wire.token, b" ", b"ok", b"died", b"-9", b"0", b"1", b"99999999999", b"\n", b"\xc3", b"text"]
        for _ in range(2_000):
            wire.sink(b"".join(rng.choices(parts, k=rng.randint(1, 30)))[:50])

    for _ in range(5):
        _, _, held = talk(inside)
        assert held <= 1000 + (1 << 16)


def test_a_length_that_never_comes_is_no_answer() -> None:
    assert talk(lambda wire: wire.sink(b"\0%s ok 0 0 0 999999999 1\nx" % wire.token))[0] is None
