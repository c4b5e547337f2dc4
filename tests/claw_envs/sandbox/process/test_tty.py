"""Programs on a pseudo-terminal, in every kind of sandbox."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.base import Sandbox, Terminal
from claw_envs.sandbox.probe import Probe

Body = Callable[[Sandbox], Awaitable[Any]]
InSandbox = Callable[..., Any]


class Session:
    """A program and all that it printed."""

    def __init__(self) -> None:
        self.output = ""
        self.terminal: Terminal
        self._more = asyncio.Event()

    @classmethod
    async def start(cls, sandbox: Sandbox, command: str, **options: Any) -> "Session":
        session = cls()
        session.terminal = await sandbox.terminal(command, sink=session._feed, **options)
        return session

    def _feed(self, data: bytes) -> None:
        self.output += data.decode(errors="replace")
        self._more.set()

    async def until(self, text: str) -> None:
        """Wait until `text` was printed, and forget what was printed up to it."""
        while text not in self.output:
            self._more.clear()
            await self._more.wait()
        self.output = self.output.partition(text)[2]

    async def said(self, typed: bytes, text: str) -> None:
        await self.terminal.write(typed)
        await self.until(text)


def run(in_any_sandbox: InSandbox, command: str, **options: Any) -> tuple[int | None, str]:
    """Exit code and output of a program that takes no input."""

    async def body(sandbox: Sandbox) -> tuple[int | None, str]:
        session = await Session.start(sandbox, command, **options)
        return await session.terminal.ended, session.output

    result: tuple[int | None, str] = in_any_sandbox(body)
    return result


def test_all_three_streams_are_one_terminal_of_the_size_asked_for(in_any_sandbox: InSandbox) -> None:
    command = "test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM && tty >/dev/null && echo named"
    assert run(in_any_sandbox, command) == (0, "24 80\r\nlinux\r\nnamed\r\n")
    assert run(in_any_sandbox, "stty size", rows=50, columns=132) == (0, "50 132\r\n")


def test_it_is_the_controlling_terminal(in_any_sandbox: InSandbox) -> None:
    command = "echo a >/dev/tty; echo b >/dev/stderr; ps -o tpgid=,pgid= -p $$"
    code, output = run(in_any_sandbox, command)
    a, b, foreground, own = output.split()
    assert (code, a, b) == (0, "a", "b")
    assert foreground == own


@pytest.mark.parametrize(
    ("command", "code"), [("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("true", 0), ("no-such-one", 127)]
)
def test_the_exit_code_is_the_programs(in_any_sandbox: InSandbox, command: str, code: int) -> None:
    assert run(in_any_sandbox, command)[0] == code


def test_what_is_printed_last_is_not_lost(in_any_sandbox: InSandbox) -> None:
    code, output = run(in_any_sandbox, "seq 20000")
    assert (code, output.split()) == (0, [str(n) for n in range(1, 20001)])


def test_it_starts_where_it_is_told(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        shell = await sandbox.shell()
        cwd = (await shell.run("mkdir -p 'sub dir'; cd 'sub dir'", timeout=20)).cwd
        for where, end in ((None, "/app\r\n"), (cwd, "/app/sub dir\r\n")):
            session = await Session.start(sandbox, "pwd", cwd=where)
            assert await session.terminal.ended == 0
            assert session.output.endswith(end)
        session = await Session.start(sandbox, "echo ran", cwd="/gone")
        assert await session.terminal.ended not in (0, None)
        assert "gone" in session.output
        assert "ran" not in session.output

    in_any_sandbox(body)


def test_ctrl_c_reaches_the_foreground_program_alone(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        program = "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); print('ready'); signal.pause()"
        session = await Session.start(
            sandbox, f"""trap 'echo shell' INT; python3 -uc "{program}"; echo after $?; cat"""
        )
        await session.until("ready\r\n")
        await session.said(b"\x03", "after 130\r\n")
        await session.said(b"lives\n", "lives\r\nlives\r\n")
        other = await Session.start(sandbox, "cat")
        await other.said(b"a line\n", "a line\r\na line\r\n")
        await other.terminal.write(b"\x04")
        assert await other.terminal.ended == 0

    in_any_sandbox(body)


def test_an_interactive_bash_has_job_control(in_any_sandbox: InSandbox) -> None:
    program = """import signal, time
signal.signal(signal.SIGCONT, lambda *_: print("continues"))
print("begins")
while True: time.sleep(0.1)  # a signal that comes just before a long sleep would be noticed after it
"""

    async def body(sandbox: Sandbox) -> int | None:
        await sandbox.put("program.py", program.encode())
        session = await Session.start(sandbox, "PS1='> ' bash --norc --noprofile")
        await session.until("> ")
        await session.said(b"python3 -u program.py\n", "begins")
        await session.said(b"\x1a", "Stopped")
        await session.said(b"jobs\n", "Stopped")
        await session.said(b"fg\n", "continues")
        await session.said(b"\x03", "> ")
        await session.said(b"echo code $?\n", "code 130\r\n")
        await session.terminal.write(b"exit 4\n")
        return await session.terminal.ended

    assert in_any_sandbox(body) == 4


def test_a_password_is_asked_for_on_the_terminal_and_not_echoed(in_any_sandbox: InSandbox) -> None:
    program = "import getpass; print('got', getpass.getpass('secret? '))"

    async def body(sandbox: Sandbox) -> str:
        session = await Session.start(sandbox, f'python3 -c "{program}" </dev/null')
        await session.until("secret? ")
        await session.terminal.write(b"hunter2\n")
        assert await session.terminal.ended == 0
        return session.output

    assert in_any_sandbox(body) == "\r\ngot hunter2\r\n"


def test_a_program_that_reads_nothing_holds_a_write_up_but_not_its_end(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        session = await Session.start(sandbox, "stty raw -echo; echo ready; sleep 600")
        await session.until("ready")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await session.terminal.write(b"x" * 1_000_000)
        writing = asyncio.ensure_future(session.terminal.write(b"x" * 1_000_000))
        await asyncio.sleep(0)
        await session.terminal.close()
        await writing
        await session.terminal.write(b"nobody hears this")

    in_any_sandbox(body)


def test_closing_kills_what_it_started_and_may_be_repeated(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        descriptors = []
        for _ in range(2):  # the first may open connections that are kept
            session = await Session.start(sandbox, "trap '' HUP TERM INT; sleep 6001 & echo ready; sleep 6001")
            await session.until("ready")
            await session.terminal.close()
            await session.terminal.close()
            assert session.terminal.ended.done()
            left = await sandbox.exec(["/bin/sh", "-c", "pgrep -f '^sleep 6001' || echo none"], timeout=20)
            assert left.output == "none\n"
            descriptors.append(len(os.listdir("/proc/self/fd")))
        assert descriptors[1] <= descriptors[0]

    in_any_sandbox(body)


@pytest.mark.parametrize("end", ["stop_agent", "reset", "close"])
def test_programs_end_with_the_agent(in_any_sandbox: InSandbox, end: str) -> None:
    async def body(sandbox: Sandbox) -> None:
        session = await Session.start(sandbox, "echo ready; sleep 600")
        await session.until("ready")
        await getattr(sandbox, end)()
        assert session.terminal.ended.done()

    in_any_sandbox(body)


def test_a_flood_leaves_the_event_loop_to_others(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        session = await Session.start(sandbox, "yes")
        await session.until("y\r\n" * 1000)
        shell = await sandbox.shell()
        assert (await shell.run("echo still", timeout=20)).output == "still\n"
        await session.terminal.close()

    in_any_sandbox(body)


def test_what_is_pushed_into_the_input_stays_in_the_program(in_any_sandbox: InSandbox) -> None:
    """TIOCSTI types into one's own controlling terminal, which is nobody's but this program's."""
    push = (
        "import fcntl, os, sys\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        fd = os.open(name, os.O_RDWR)\n"
        "        for c in 'echo pushed\\n': fcntl.ioctl(fd, 0x5412, c.encode())\n"
        "        print(name, 'took it')\n"
        "    except OSError as error: print(name, 'refused')\n"
    )

    async def body(sandbox: Sandbox) -> None:
        outer, inner = os.openpty()  # a terminal of the host's, as a user's would be
        os.set_blocking(outer, False)
        isolated = "Local" not in type(sandbox).__name__
        names = f"/dev/tty {os.ttyname(inner)}" if isolated else "/dev/tty"
        await sandbox.put("push.py", push.encode())
        session = await Session.start(sandbox, f"python3 push.py {names}; echo done")
        await session.terminal.ended
        assert "done" in session.output
        shell = await sandbox.shell()
        result = await shell.run("python3 push.py /dev/tty", timeout=20)
        assert result.output == "/dev/tty refused\n"  # a command has no terminal at all
        with pytest.raises(BlockingIOError):
            os.read(outer, 100)
        os.close(outer)
        os.close(inner)

    in_any_sandbox(body)


def test_a_command_that_is_too_long_is_the_callers_mistake(in_any_sandbox: InSandbox) -> None:
    async def body(sandbox: Sandbox) -> None:
        before = len(os.listdir("/proc/self/fd"))
        with pytest.raises(OSError, match="too long"):
            await sandbox.terminal("x" * 1_000_000, sink=lambda _: None)
        assert len(os.listdir("/proc/self/fd")) == before

    in_any_sandbox(body)


def test_a_sandbox_that_died_ends_its_programs_without_a_code(probed: dict[str, Probe]) -> None:
    if not probed["namespace"].usable:
        pytest.skip(probed["namespace"].detail)

    async def main() -> None:
        from claw_envs.sandbox.namespace.backend import NamespaceSandbox

        sandbox = NamespaceSandbox(SandboxSpec())
        await sandbox.start()
        try:
            session = await Session.start(sandbox, "echo ready; sleep 600")
            await session.until("ready")
            sandbox._holder.kill()
            async with asyncio.timeout(20):
                assert await session.terminal.ended is None
            with pytest.raises(InfrastructureError):
                await sandbox.terminal("true", sink=lambda _: None)
        finally:
            await sandbox.close()

    asyncio.run(main())


def test_no_descriptor_of_the_hosts_is_inherited(in_any_sandbox: InSandbox, tmp_path: Path) -> None:
    with open(tmp_path / "secret", "w") as file:
        os.set_inheritable(file.fileno(), True)
        _, output = run(in_any_sandbox, "ls /proc/self/fd")
    assert set(output.split()) <= {"0", "1", "2", "3"}
