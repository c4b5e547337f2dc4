import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.docker.backend import DockerSandbox

Runner = Callable[..., Any]


def _run(in_container: Runner, *commands: str, timeout: float = 60.0, **spec: Any) -> list[ExecResult]:
    async def body(sandbox: DockerSandbox) -> list[ExecResult]:
        shell = await sandbox.shell()
        return [await shell.run(command, timeout=timeout) for command in commands]

    results: list[ExecResult] = in_container(body, **spec)
    return results


def test_what_the_agents_processes_may_do(in_container: Runner) -> None:
    (status,) = _run(in_container, "cat /proc/self/status")
    found = dict(line.split(":\t") for line in status.output.splitlines() if ":\t" in line)
    assert int(found["CapBnd"], 16) == int(found["CapEff"], 16) == 0b11111011
    assert found["NoNewPrivs"] == "1"
    assert found["Seccomp"] == "2"


def test_no_network_but_an_own_loopback_unless_it_is_granted(in_container: Runner) -> None:
    look = "cut -d : -f 1 -s /proc/net/dev | tr -d ' '"
    assert _run(in_container, look)[0].output == "lo\n"
    assert "eth0" in _run(in_container, look, network="full")[0].output


def test_nothing_of_the_host_is_in_view(in_container: Runner, swaps: None) -> None:
    (mounts,) = _run(in_container, "cut -d ' ' -f 2,3,4 /proc/mounts; ls /proc | grep -c '^[0-9]'")
    assert "/var/lib/docker" not in mounts.output
    assert " ext4 " not in mounts.output
    assert int(mounts.output.splitlines()[-1]) <= 8


def test_memory_is_limited_and_the_shell_survives(in_container: Runner) -> None:
    eat = "python3 -c \"x = b'x' * (600 << 20); print('fits')\""
    bomb, after = _run(in_container, eat, "echo fine", memory_mb=128, disk_mb=16)
    assert "fits" not in bomb.output
    assert bomb.exit_code == 137
    assert after.output == "fine\n"


def test_a_fork_bomb_is_limited_and_ends_with_the_agent(in_container: Runner) -> None:
    async def body(sandbox: DockerSandbox) -> list[Any]:
        shell = await sandbox.shell()
        bomb = await shell.run(":(){ :|:& };:; sleep 1000", timeout=1)
        await sandbox.stop_agent()
        after = await sandbox.exec(["pgrep", "-c", "bash"], timeout=30, user="verifier")
        await sandbox.reset()
        again = await (await sandbox.shell()).run("echo fine", timeout=30)
        return [bomb.timed_out, after.output, again.output]

    assert in_container(body, pids=64) == [True, "1\n", "fine\n"]


def test_a_shell_starts_where_the_agent_holds_every_process(in_container: Runner) -> None:
    hold = """import os, signal
try:
    while os.fork(): pass
except OSError:
    open("full", "w")
signal.pause()
"""

    async def body(sandbox: DockerSandbox) -> ExecResult:
        await sandbox.put("hold.py", hold.encode())
        shell = await sandbox.shell()
        await shell.run("python3 hold.py & until [ -e full ]; do :; done; exit", timeout=60)
        return await shell.run("echo fine", timeout=60)

    assert in_container(body, pids=32).output.endswith("fine\n")


def test_the_disk_is_limited_and_the_verifier_has_room(in_container: Runner, swaps: None) -> None:
    async def body(sandbox: DockerSandbox) -> list[ExecResult]:
        fill = "head -c 40m /dev/zero > /app/big; head -c 40m /dev/zero > /dev/shm/big; du -sm /app /dev/shm"
        filled = await sandbox.exec(["sh", "-c", fill], timeout=60)
        await sandbox.stop_agent()
        await sandbox.put("/logs/verdict", b"1" * 1_000_000, user="verifier")
        await sandbox.reset()
        return [filled, await sandbox.exec(["sh", "-c", "ls /app /dev/shm /logs; df -m --output=used /"], timeout=60)]

    filled, after = in_container(body, disk_mb=50)
    assert filled.output.count("No space left on device") == 1
    assert "/logs" in after.output
    assert after.output.split()[-1] in ("0", "1")


def test_cpu_is_limited(in_container: Runner) -> None:
    # where control groups are unified or not
    look = "cat /sys/fs/cgroup/cpu.max 2>/dev/null || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us"
    (result,) = _run(in_container, look, cpus=0.5)
    assert result.output.split()[0] == "50000"


def test_a_reset_takes_back_what_root_can_change(in_container: Runner, swaps: None) -> None:
    look = (
        "cat /etc/hosts /etc/hostname; ls -l /dev/null | cut -c 1; ls /dev /dev/shm /dev/mqueue; ipcs -m | wc -l; "
        "stat -c '%a %U' / /usr /etc /tmp /app; ls -a / /root /app"
    )
    spoil = (
        "echo evil > /etc/hosts; rm /dev/null; echo evil > /dev/null; echo x > /dev/shm/x; ipcmk -M 100; "
        "python3 -c \"import os; os.open('/dev/mqueue/q', os.O_CREAT)\"; rm -rf /usr/bin/python3 /app; chmod 0 /usr /; "
        "chown 1:1 /etc"
    )

    async def body(sandbox: DockerSandbox) -> list[str]:
        seen = []
        for _ in range(3):
            shell = await sandbox.shell()
            seen.append((await shell.run(look, timeout=30)).output)
            await shell.run(spoil, timeout=30)
            await sandbox.reset()
        return seen

    seen = in_container(body)
    assert seen[0] == seen[1] == seen[2]


def test_the_old_root_is_out_of_reach(in_container: Runner, swaps: None) -> None:
    async def body(sandbox: DockerSandbox) -> list[str]:
        shell = await sandbox.shell()
        await shell.run("echo secret > /app/marked-file", timeout=30)
        await sandbox.reset()
        look = "find / -xdev -name marked-file; find /proc/*/root/ /proc/*/cwd/ -maxdepth 2 -name marked-file"
        return [(await sandbox.exec(["sh", "-c", f"{look}; wc -l < /proc/mounts"], timeout=60)).output for _ in "12"]

    once, again = in_container(body)
    assert "marked-file" not in once
    assert once == again  # and no mounts pile up


def test_a_sandbox_that_kills_what_comes_near_is_reset_all_the_same(in_container: Runner, swaps: None) -> None:
    async def body(sandbox: DockerSandbox) -> str:
        for _ in range(5):
            shell = await sandbox.shell()
            await shell.run("for i in 1 2 3; do (while :; do kill -9 -1; done) & done", timeout=5)
            await sandbox.reset()
        return (await sandbox.exec(["pgrep", "-c", "bash"], timeout=30)).output

    assert in_container(body) == "1\n"


def test_parallel_commands_do_not_wait_for_each_other(in_container: Runner) -> None:
    async def body(sandbox: DockerSandbox) -> list[str]:
        shells = await asyncio.gather(*(sandbox.shell() for _ in range(4)))
        await shells[0].run("mkfifo gate", timeout=30)
        waiting = [asyncio.ensure_future(shell.run("cat gate", timeout=60)) for shell in shells[:-1]]
        await shells[-1].run("until [ $(pgrep -c cat) = 3 ]; do :; done; echo open > gate", timeout=60)
        return sorted([(await done).output for done in waiting])

    assert "open\n" in in_container(body)[-1]


@pytest.mark.parametrize("script", ["exec 1>&- 2>&-; sleep 1000", "kill -STOP $$", "trap '' TERM INT; sleep 1000"])
def test_a_command_that_does_not_end_is_stopped(in_container: Runner, script: str) -> None:
    stopped, after = _run(in_container, script, "echo fine", timeout=2)
    assert stopped.timed_out
    assert after.output == "fine\n"
