import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.process.shell import REPLACED

Runner = Callable[..., Any]
GONE = "while pgrep sleep > /dev/null; do :; done; echo gone"
"""What was killed is seen for a moment longer."""


def _run(in_sandbox: Runner, *commands: str, timeout: float = 30.0, **spec: Any) -> list[ExecResult]:
    async def body(sandbox: NamespaceSandbox) -> list[ExecResult]:
        shell = await sandbox.shell()
        return [await shell.run(command, timeout=timeout) for command in commands]

    return in_sandbox(body, **spec)  # type: ignore[no-any-return]


def test_state_survives_between_commands(in_sandbox: Runner) -> None:
    *_, last = _run(
        in_sandbox, "x='a b'; mkdir -p d; cd d", "f() { echo \"f:$1\"; }", "alias hi='echo hello'",
        'f 1; echo "$x"; hi; pwd',
    )  # fmt: skip
    assert last == ExecResult("f:1\na b\nhello\n/app/d\n", 0, cwd="/app/d")


def test_exit_codes_are_reported_and_kept_for_the_next_command(in_sandbox: Runner) -> None:
    codes = _run(in_sandbox, "false", "echo $?", "(exit 42)", "echo $?", "true", "echo $?")
    assert [result.exit_code for result in codes] == [1, 0, 42, 0, 0, 0]
    assert [result.output for result in codes[1::2]] == ["1\n", "42\n", "0\n"]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo 'a\"b' \"c'd\" \\$x", "a\"b c'd $x\n"),
        ("cat <<'END'\n$x `y` \"z\" 'w'\nEND", "$x `y` \"z\" 'w'\n"),
        ("for i in 1 2\ndo\n  echo $i\ndone", "1\n2\n"),
        ("echo one\necho two", "one\ntwo\n"),
        ("echo trailing \\", "trailing \\\n"),
        ("echo \"a!b\" '!!'", "a!b !!\n"),
        ("# only a comment", ""),
        ("", ""),
        ("echo grüße 🦀", "grüße 🦀\n"),
        ("printf '%s' \"$(seq 3)\"", "1\n2\n3"),
        (": \ud83d; echo lone", "lone\n"),
    ],
)
def test_any_text_is_a_command(in_sandbox: Runner, command: str, output: str) -> None:
    (result,) = _run(in_sandbox, command)
    assert (result.output, result.exit_code) == (output, 0)


@pytest.mark.parametrize(
    "command", ["echo 'a", 'echo "a', "if true; then", "(", "cat <<END\nx", "}", "$(", "a\0b", "`"]
)
def test_broken_syntax_is_an_error_and_not_a_wedge(in_sandbox: Runner, command: str) -> None:
    broken, after = _run(in_sandbox, command, "echo fine")
    assert broken.output
    assert not broken.timed_out
    assert after.output == "fine\n"


@pytest.mark.parametrize("command", ["break", "continue", "return 3", "shift 5", "local x", "set -u; echo $nope"])
def test_control_flow_does_not_reach_the_loop_around_it(in_sandbox: Runner, command: str) -> None:
    _, after = _run(in_sandbox, command, "echo fine")
    assert (after.output, after.exit_code) == ("fine\n", 0)


def test_a_long_command_arrives_whole(in_sandbox: Runner) -> None:
    text = "y" * 200_000
    written, size = _run(in_sandbox, f"cat > big <<'E'\n{text}\nE", "wc -c < big")
    assert written.exit_code == 0
    assert size.output.strip() == "200001"


def test_standard_input_is_empty(in_sandbox: Runner) -> None:
    results = _run(in_sandbox, "cat", "read line", "python3 -c 'input()'", "echo fine")
    assert [result.timed_out for result in results] == [False] * 4
    assert results[0] == ExecResult("", 0, cwd="/app")
    assert results[1].exit_code == 1
    assert results[3].output == "fine\n"


@pytest.mark.parametrize(
    "command",
    ["sleep 1000", "while :; do sleep 0.01; done", "while :; do :; done", "sleep 1000 | cat", "yes > /dev/null"],
)
def test_a_command_that_runs_over_is_stopped_and_the_state_stays(in_sandbox: Runner, command: str) -> None:
    async def body(sandbox: NamespaceSandbox) -> list[ExecResult]:
        shell = await sandbox.shell()
        await shell.run("cd /tmp; x=7", timeout=30)
        return [await shell.run(command, timeout=0.3), await shell.run(f"echo $x $PWD; {GONE}", timeout=30)]

    stopped, after = in_sandbox(body)
    assert (stopped.exit_code, stopped.timed_out) == (None, True)
    assert "longer than 0.3 s" in stopped.output
    assert after.output == "7 /tmp\ngone\n"


def test_what_ignores_the_interrupt_is_killed(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> list[ExecResult]:
        shell = await sandbox.shell()
        await shell.run("x=7", timeout=30)
        stubborn = "bash -c 'trap \"\" INT TERM; sleep 1000'"
        return [await shell.run(stubborn, timeout=0.3), await shell.run(f"echo $x; {GONE}", timeout=30)]

    stopped, after = in_sandbox(body)
    assert stopped.timed_out
    assert after.output == "7\ngone\n"


def test_a_shell_that_cannot_be_stopped_is_replaced(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> list[ExecResult]:
        shell = await sandbox.shell()
        wedge = "trap '' INT; while :; do :; done"
        return [await shell.run(wedge, timeout=3), await shell.run("echo fine", timeout=30)]

    stopped, after = in_sandbox(body)
    assert stopped.timed_out
    assert stopped.output.endswith(REPLACED)
    assert after.output == "fine\n"


def test_output_before_a_timeout_is_kept(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        shell = await sandbox.shell()
        return await shell.run("echo partial; sleep 1000", timeout=0.5)

    assert in_sandbox(body).output.startswith("partial\n")


def test_background_processes_do_not_hold_the_step_and_live_on(in_sandbox: Runner) -> None:
    both = "until [ $(pgrep -c sleep) = 2 ]; do :; done; pgrep -a sleep | cut -d ' ' -f 2-"
    started, alive, later = _run(in_sandbox, "sleep 1000 & (setsid sleep 1001 &) ; echo go", both, "true; " + both)
    assert started.output.endswith("go\n")
    assert alive.output == later.output == "sleep 1000\nsleep 1001\n"


def test_a_background_process_of_an_earlier_command_survives_a_stopped_one(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        shell = await sandbox.shell()
        await shell.run("sleep 1000 &", timeout=30)
        await sandbox.exec(["sleep", "0.1"], timeout=30)  # process start times have a resolution of 10 ms
        await shell.run("bash -c 'trap \"\" INT; sleep 2000'", timeout=0.3)
        return await shell.run("pgrep -a sleep", timeout=30)

    assert "sleep 1000" in in_sandbox(body).output


def test_output_of_the_background_comes_with_a_later_command(in_sandbox: Runner) -> None:
    first, second = _run(in_sandbox, "mkfifo go; (read < go; echo late) &", "echo > go; wait; echo done")
    assert "late" not in first.output
    assert "late\n" in second.output


@pytest.mark.parametrize(
    ("command", "code"),
    [("exit 3", 3), ("exit", 0), ("set -e; false", 1), ("exec true", 0), ("exec false", 1), ("kill -9 $$", None)],
)
def test_a_lost_shell_is_replaced_and_the_output_says_so(in_sandbox: Runner, command: str, code: int | None) -> None:
    before, lost, after = _run(in_sandbox, "x=1; cd /tmp", command, 'echo "[$x]"; pwd')
    assert before.exit_code == 0
    assert lost.output.endswith(REPLACED)
    assert lost.exit_code == code
    assert after.output == "[]\n/app\n"


def test_killing_every_process_costs_only_the_shell(in_sandbox: Runner) -> None:
    _, *after = _run(in_sandbox, "kill -9 -1", *["echo fine"] * 4)
    fine = [result.output.endswith("fine\n") for result in after]
    assert fine.count(False) <= 1  # on a busy machine the shell's death may only be seen during the next command
    assert fine[-1]


@pytest.mark.parametrize("command", ["exec >&-", "exec 2>&- 1>&- 0<&-", "exec 200>&- 201>&-", "exec > /dev/null 2>&1"])
def test_closed_descriptors_do_not_silence_the_next_command(in_sandbox: Runner, command: str) -> None:
    closed, after = _run(in_sandbox, command, "echo fine")
    assert not closed.timed_out
    assert (after.output, after.exit_code) == ("fine\n", 0)


def test_printing_what_the_shell_itself_prints_fools_nobody(in_sandbox: Runner) -> None:
    forged, after = _run(
        in_sandbox,
        "for fd in $(seq 0 255); do { printf '%s 0 /x\\0' 0123456789abcdef >&$fd; } 2>/dev/null; done; false",
        "echo fine",
    )
    assert (forged.exit_code, forged.cwd) == (1, "/app")
    assert after.output == "fine\n"


def test_commands_inherit_no_descriptor(in_sandbox: Runner) -> None:
    (result,) = _run(in_sandbox, "ls /proc/self/fd | wc -l")
    assert result.output.strip() == "4"  # 0, 1, 2 and the directory itself


def test_own_descriptors_survive(in_sandbox: Runner) -> None:
    *_, last = _run(in_sandbox, "exec 3> f", "echo kept >&3", "cat f")
    assert last.output == "kept\n"


def test_output_is_bounded_with_head_and_tail(in_sandbox: Runner) -> None:
    (result,) = _run(in_sandbox, "echo first; yes | head -c 5000000; echo last", output_bytes=1000)
    assert result.output.startswith("first\n")
    assert result.output.endswith("last\n")
    assert result.truncated_bytes == 5_000_011 - 1000
    assert len(result.output) < 1100


def test_any_bytes_are_valid_text(in_sandbox: Runner) -> None:
    (result,) = _run(in_sandbox, "head -c 1000 /dev/urandom")
    result.output.encode("utf-8")


def test_two_shells_share_files_and_processes_but_not_state(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> tuple[ExecResult, ExecResult]:
        one, two = await sandbox.shell(), await sandbox.shell()
        await one.run("x=1; echo shared > f; sleep 1000 &", timeout=30)
        seen = await two.run('echo "[$x]" $(cat f) $(pgrep -c sleep)', timeout=30)
        await one.close()
        return seen, await two.run(GONE, timeout=30)

    seen, after = in_sandbox(body)
    assert seen.output == "[] shared 1\n"
    assert after.output == "gone\n"


def test_commands_of_many_shells_run_at_once(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> float:
        shells = await asyncio.gather(*(sandbox.shell() for _ in range(8)))
        await shells[0].run("mkfifo gate", timeout=30)
        begun = time.monotonic()
        waiting = [asyncio.ensure_future(shell.run("cat gate", timeout=60)) for shell in shells[:-1]]
        await shells[-1].run("echo open > gate", timeout=60)
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return time.monotonic() - begun

    assert in_sandbox(body) < 60


def test_a_cancelled_command_is_killed(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        shell = await sandbox.shell()
        await shell.run("mkfifo gate", timeout=30)
        task = asyncio.ensure_future(shell.run("cat gate", timeout=1000))
        await sandbox.exec(["sh", "-c", "until pgrep cat; do :; done"], timeout=30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await shell.run("pgrep cat; echo fine", timeout=30)

    assert in_sandbox(body).output == f"{REPLACED}\nfine\n"


def test_a_closed_shell_refuses(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> None:
        shell = await sandbox.shell()
        await shell.close()
        await shell.close()
        with pytest.raises(InfrastructureError):
            await shell.run("true", timeout=30)

    in_sandbox(body)


DEAF = """
import asyncio
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox

async def main():
    sandbox = make_sandbox(SandboxSpec())
    await sandbox.start()
    shell = await sandbox.shell()
    await shell.run("cd /tmp; x=7", timeout=30)
    await shell.run("while :; do sleep 0.01; done", timeout=0.5)
    print((await shell.run("echo $x $PWD", timeout=30)).output, end="")
    await sandbox.close()

asyncio.run(main())
"""


def test_commands_can_be_stopped_also_where_the_owner_runs_in_the_background_and_ignores_interrupts() -> None:
    ignoring = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); exec(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", ignoring, DEAF], capture_output=True, text=True, timeout=120)
    assert done.stdout == "7 /tmp\n", done.stderr
