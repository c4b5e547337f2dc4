"""Programs that are talked to in bytes, in every kind of sandbox."""

import asyncio
import hashlib
import os
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.base import Pipe, Sandbox
from claw_envs.sandbox.probe import Probe

Body = Callable[[Sandbox], Awaitable[Any]]
InSandbox = Callable[..., Any]
BIG = random.Random(7).randbytes(9_000_001)
HASH = "import hashlib,sys; d=sys.stdin.buffer.read(int(sys.argv[1])); print(hashlib.sha256(d).hexdigest(), flush=True)"


class Talk:
    """A program and all that it printed."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.pipe: Pipe
        self._more = asyncio.Event()

    @classmethod
    async def start(cls, sandbox: Sandbox, *argv: str, **options: Any) -> "Talk":
        talk = cls()
        talk.pipe = await sandbox.pipe(list(argv), sink=talk._feed, **options)
        return talk

    def _feed(self, data: bytes) -> None:
        self.output += data
        self._more.set()

    async def until(self, size: int) -> bytes:
        """Wait until `size` bytes were printed; all that was, which is then forgotten."""
        while len(self.output) < size:
            self._more.clear()
            await self._more.wait()
        data, self.output = bytes(self.output), bytearray()
        return data


def test_what_is_written_comes_back_as_it_is(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        talk = await Talk.start(sandbox, "cat")
        for data in (b"a line\n", b"\0", b"\xff\x00\r\n\x03\x04\x1a\x1b", bytes(range(256)) * 40 + b"\0"):
            await talk.pipe.write(data)
            assert await talk.until(len(data)) == data
        await talk.pipe.close()
        assert talk.pipe.ended.done()

    in_any_sandbox(body)


def test_much_goes_both_ways_at_once(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        talk = await Talk.start(sandbox, "cat")
        writing = asyncio.ensure_future(talk.pipe.write(BIG))
        assert await talk.until(len(BIG)) == BIG
        await writing

    in_any_sandbox(body)


def test_much_goes_in(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        talk = await Talk.start(sandbox, "python3", "-c", HASH, str(len(BIG)))
        await talk.pipe.write(BIG)
        assert (await talk.until(65)).decode().strip() == hashlib.sha256(BIG).hexdigest()
        assert await talk.pipe.ended == 0

    in_any_sandbox(body)


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)])
def test_the_exit_code_is_the_programs_and_nothing_printed_is_lost(
    in_any_sandbox: InSandbox, script: str, code: int
) -> None:
    async def body(sandbox: Sandbox) -> None:
        talk = await Talk.start(sandbox, "/bin/bash", "-c", f"head -c 3000000 /dev/zero; {script}")
        assert await talk.pipe.ended == code
        assert bytes(talk.output) == bytes(3_000_000)
        await talk.pipe.write(b"nobody hears this")
        await talk.pipe.close()

    in_any_sandbox(body)


def test_errors_are_apart_and_bounded(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        talk = await Talk.start(sandbox, "/bin/sh", "-c", "echo out; echo begins >&2; seq 100000 >&2; echo ends >&2")
        assert await talk.pipe.ended == 0
        assert bytes(talk.output) == b"out\n"
        said = talk.pipe.errors()
        assert said.startswith("begins\n")
        assert said.endswith("ends\n")
        assert len(said) < 10_000
        assert talk.pipe.errors() == ""

    in_any_sandbox(body)


async def fill(pipe: Pipe) -> None:
    """Write until somebody stops it."""
    while True:
        await pipe.write(bytes(4_000_000))


def test_a_program_that_reads_nothing_holds_a_write_up_but_not_its_end(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        talk = await Talk.start(sandbox, "sleep", "600")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(fill(talk.pipe), 0.3)
        writing = asyncio.ensure_future(talk.pipe.write(bytes(4_000_000)))
        await asyncio.sleep(0)
        await talk.pipe.close()
        await writing
        await talk.pipe.write(b"nobody hears this")

    in_any_sandbox(body)


def test_environment_directory_and_user_are_as_asked_for(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        show = ("/bin/sh", "-c", 'echo "$OF_SPEC-$OF_CALL"; basename "$PWD"; id -u')
        await sandbox.exec(["mkdir", "there"], timeout=20)
        talk = await Talk.start(sandbox, *show, env={"OF_CALL": "two"}, cwd="/app/there")
        await talk.pipe.ended
        assert talk.output.split()[:2] == [b"one-two", b"there"]
        if "Local" in type(sandbox).__name__:
            with pytest.raises(UserError, match="verif"):
                await Talk.start(sandbox, *show, user="verifier")
            return
        other = await Talk.start(sandbox, *show, user="verifier")
        await other.pipe.ended
        assert other.output.split() == [b"-", b"app", b"0"]

    in_any_sandbox(body, env={"OF_SPEC": "one"})


def test_a_program_that_is_not_there_says_so(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        talk = await Talk.start(sandbox, "no-such-program")
        assert await talk.pipe.ended not in (0, None)
        assert "no-such-program" in talk.pipe.errors()
        with pytest.raises(OSError, match=r"(?i)nul"):
            await Talk.start(sandbox, "echo", "x\0")

    in_any_sandbox(body)


def test_closing_kills_what_it_started_and_leaves_no_descriptor(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        descriptors = []
        for _ in range(2):  # the first may open connections that are kept
            talk = await Talk.start(sandbox, "/bin/sh", "-c", "trap '' HUP TERM; sleep 6002 & echo; sleep 6002")
            await talk.until(1)
            await talk.pipe.close()
            await talk.pipe.close()
            left = await sandbox.exec(["/bin/sh", "-c", "pgrep -f '^sleep 6002' || echo none"], timeout=20)
            assert left.output == "none\n"
            descriptors.append(len(os.listdir("/proc/self/fd")))
        assert descriptors[1] <= descriptors[0]

    in_any_sandbox(body)


@pytest.mark.parametrize("user", ["agent", "verifier"])
@pytest.mark.parametrize("end", ["stop_agent", "reset", "close"])
def test_programs_end_with_the_agent(in_any_sandbox: InSandbox, end: str, user: str) -> None:
    async def body(sandbox: Sandbox) -> None:
        if user == "verifier" and "Local" in type(sandbox).__name__:
            pytest.skip("the local sandbox has no verifier")
        talk = await Talk.start(sandbox, "/bin/sh", "-c", "echo; sleep 600", user=user)
        await talk.until(1)
        await getattr(sandbox, end)()
        assert talk.pipe.ended.done()

    in_any_sandbox(body)


def test_a_flood_leaves_the_event_loop_to_others(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        talk = await Talk.start(sandbox, "yes")
        await talk.until(100_000)
        shell = await sandbox.shell()
        assert (await shell.run("echo still", timeout=20)).output == "still\n"
        await talk.pipe.close()

    in_any_sandbox(body)


def test_a_sandbox_that_died_ends_its_programs_without_a_code(probed: dict[str, Probe]) -> None:
    if not probed["namespace"].usable:
        pytest.skip(probed["namespace"].detail)

    async def main() -> None:
        from claw_envs.sandbox.namespace.backend import NamespaceSandbox

        sandbox = NamespaceSandbox(SandboxSpec())
        await sandbox.start()
        try:
            talk = await Talk.start(sandbox, "cat")
            sandbox._holder.kill()
            async with asyncio.timeout(20):
                assert await talk.pipe.ended is None
            with pytest.raises(InfrastructureError):
                await Talk.start(sandbox, "cat")
        finally:
            await sandbox.close()

    asyncio.run(main())
