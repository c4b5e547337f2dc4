import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.namespace import backend, holder, host
from claw_envs.sandbox.namespace.backend import NamespaceSandbox

Runner = Callable[..., Any]


def test_exec_runs_as_an_unprivileged_user_in_the_working_directory(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        return await sandbox.exec(["sh", "-c", "id -u; pwd; cat; echo err >&2; exit 4"], timeout=30, stdin=b"in\n")

    assert in_sandbox(body, workdir="/work/deep") == ExecResult("1000\n/work/deep\nin\nerr\n", 4, cwd="/work/deep")


def test_exec_environment(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> tuple[str, str, str]:
        agent = await sandbox.exec(["env"], timeout=30, env={"MORE": "2"})
        verifier = await sandbox.exec(
            ["env"], timeout=30, user="verifier", env={"PATH": "/evil", "HOME": "/evil", "A": "1"}
        )
        shell = await sandbox.shell()
        return agent.output, verifier.output, (await shell.run("env", timeout=30)).output

    agent, verifier, shell = (set(text.splitlines()) for text in in_sandbox(body, env={"TASK": "1"}))
    assert {"TASK=1", "MORE=2", "HOME=/home/agent", "USER=agent"} <= agent
    assert {"TASK=1", "HOME=/home/agent"} <= shell
    assert {"A=1", "HOME=/root", f"PATH={host.TOOL_PATH}"} <= verifier
    assert not any(line.startswith("TASK") for line in verifier)


def test_exec_stops_what_runs_over_with_its_children(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> tuple[ExecResult, ExecResult]:
        stopped = await sandbox.exec(["sh", "-c", "echo begun; sleep 1000 | cat"], timeout=0.5)
        gone = "while pgrep sleep > /dev/null; do :; done; echo gone"
        return stopped, await sandbox.exec(["sh", "-c", gone], timeout=30)

    stopped, after = in_sandbox(body)
    assert (stopped.output, stopped.exit_code, stopped.timed_out) == ("begun\n", None, True)
    assert after.output == "gone\n"


def test_exec_ends_with_its_command_whatever_holds_its_output(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        return await sandbox.exec(["sh", "-c", "sleep 1000 & echo done"], timeout=60)

    assert in_sandbox(body) == ExecResult("done\n", 0, cwd="/app")


def test_exec_output_is_bounded(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        return await sandbox.exec(["head", "-c", "20000000", "/dev/zero"], timeout=60)

    result = in_sandbox(body, output_bytes=100)
    assert result.truncated_bytes == 20_000_000 - 100


def test_a_missing_program_is_an_exit_code(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        return await sandbox.exec(["no-such-program"], timeout=30)

    result = in_sandbox(body)
    assert result.exit_code != 0
    assert "no-such-program" in result.output


def test_put_and_get(in_sandbox: Runner) -> None:
    data = bytes(range(256)) * 4000

    async def body(sandbox: NamespaceSandbox) -> tuple[bytes, bytes, str]:
        await sandbox.put("/app/a b/c'd", data, mode=0o755)
        await sandbox.put("relative", b"r")
        await sandbox.put("relative", b"again")
        stat = await sandbox.exec(["stat", "-c", "%a %U", "/app/a b/c'd"], timeout=30)
        return await sandbox.get("/app/a b/c'd"), await sandbox.get("relative"), stat.output

    assert in_sandbox(body) == (data, b"again", "755 agent\n")


def test_get_tells_what_is_wrong_and_is_bounded(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> bytes:
        with pytest.raises(FileNotFoundError):
            await sandbox.get("/app/none")
        await sandbox.exec(["mkfifo", "fifo"], timeout=30)
        for path in ("/app", "/app/fifo", "/dev/zero"):
            with pytest.raises(OSError, match="not a regular file"):
                await sandbox.get(path)
        with pytest.raises(OSError, match=r"denied|Read-only"):
            await sandbox.put("/usr/bin/evil", b"")
        await sandbox.put("big", b"x" * 1000)
        return await sandbox.get("big", max_bytes=10)

    assert in_sandbox(body) == b"x" * 10


def test_files_and_setup_are_there_and_are_the_agents(in_sandbox: Runner, tmp_path: Path) -> None:
    (tmp_path / "data/sub").mkdir(parents=True)
    (tmp_path / "data/sub/run.sh").write_text("echo run")
    (tmp_path / "data/sub/run.sh").chmod(0o755)
    (tmp_path / "one").write_text("1")

    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        look = "stat -c '%U %n' /srv/d /srv/d/sub /srv/d/sub/run.sh one made; cat one made; /srv/d/sub/run.sh"
        return await sandbox.exec(["sh", "-c", f"{look}; touch /srv/d/x"], timeout=30)

    files = {"/srv/d": str(tmp_path / "data"), "/app/one": str(tmp_path / "one")}
    result = in_sandbox(body, files=files, setup=("id -un > made", "echo $TASK >> made"), env={"TASK": "t"})
    names = ["/srv/d", "/srv/d/sub", "/srv/d/sub/run.sh", "one", "made"]
    assert result.output == "".join(f"agent {name}\n" for name in names) + "1agent\nt\nrun\n"
    assert result.exit_code == 0


def test_a_failed_setup_is_infrastructure_with_its_log(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> None: ...

    with pytest.raises(InfrastructureError, match=r"exit code 3.*the reason"):
        in_sandbox(body, setup=("echo the reason; exit 3",))


def test_a_missing_file_of_the_spec_is_the_users_mistake(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> None: ...

    with pytest.raises(UserError, match="does not exist"):
        in_sandbox(body, files={"/app/x": "/no/such/file"})


@pytest.mark.parametrize("spec", [{"network": ("http://example.org",)}, {"rootfs": "/nowhere"}])
def test_what_the_backend_cannot_do_is_said_in_one_line(spec: dict[str, Any]) -> None:
    with pytest.raises(UserError) as error:
        asyncio.run(make_sandbox(SandboxSpec(**spec)).start())
    assert "\n" not in str(error.value)


def test_unknown_backend() -> None:
    with pytest.raises(UserError, match="namespace"):
        make_sandbox(SandboxSpec(), backend="nope")


def test_a_missing_program_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "TOOL_PATH", "/nonexistent")
    host.tools.cache_clear()
    try:
        with pytest.raises(UserError, match="apt-get install bubblewrap"):
            asyncio.run(make_sandbox(SandboxSpec()).start())
    finally:
        host.tools.cache_clear()


_ORPHANS = """
import asyncio, ctypes, os
from pathlib import Path
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox

def ended():
    stats = (Path(f"/proc/{pid}/stat").read_text() for pid in Path("/proc/thread-self/children").read_text().split())
    return [stat for stat in stats if ") Z " in stat]

async def main():
    sandbox = make_sandbox(SandboxSpec(), "namespace")
    await sandbox.start()
    for _ in range(50):
        await sandbox.exec(["sleep", "1000"], timeout=0.05)
        if ended():
            break
    await sandbox.reset()
    print(len(ended()) > 0, (await sandbox.exec(["echo", "answers"], timeout=30)).output)
    await sandbox.close()

ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: as the first process of a container is for all in it
asyncio.run(main())
"""


@pytest.mark.usefixtures("_usable")
def test_reset_does_not_wait_for_what_has_ended_but_is_not_reaped() -> None:
    done = subprocess.run([sys.executable, "-c", _ORPHANS], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "True answers\n\n", done.stderr


def test_reset_goes_back_to_the_state_after_start(in_sandbox: Runner, tmp_path: Path) -> None:
    (tmp_path / "given").write_text("given")
    look = "find /app /tmp /home /srv /dev/shm | sort; cat given made; pgrep -c sleep"

    async def body(sandbox: NamespaceSandbox) -> list[str]:
        seen = []
        for _ in range(3):
            shell = await sandbox.shell()
            seen.append((await shell.run(look, timeout=30)).output)
            await shell.run(
                "sleep 1000 & (setsid sleep 1000 &); echo changed > given; rm made; rmdir empty; mkdir made; "
                "touch x /tmp/x /home/x /srv/x /dev/shm/x; chmod 0 /tmp",
                timeout=30,
            )
            await sandbox.reset()
            with pytest.raises(InfrastructureError):
                await shell.run("true", timeout=30)
        return seen

    seen = in_sandbox(body, files={"/app/given": str(tmp_path / "given")}, setup=("echo made > made; mkdir empty",))
    assert "givenmade\n0\n" in seen[0]
    assert seen[0] == seen[1] == seen[2]


def test_an_agent_that_is_stopped_is_gone_and_its_files_are_not(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        shell = await sandbox.shell()
        await shell.run("echo secret > mine; chmod 0 mine; sleep 1000 & (setsid sleep 1000 &)", timeout=30)
        await sandbox.stop_agent()
        with pytest.raises(InfrastructureError):
            await shell.run("true", timeout=30)
        return await sandbox.exec(["sh", "-c", "cat mine; pgrep -c sleep"], timeout=30, user="verifier")

    assert in_sandbox(body).output == "secret\n0\n"


def test_the_verifier_replaces_links_and_files_that_the_agent_laid_out(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> tuple[bytes, bytes]:
        await sandbox.exec(["sh", "-c", "mkdir /tests; echo old > old; ln -s /app/old /tests/t.sh"], timeout=30)
        await sandbox.stop_agent()
        await sandbox.put("/tests/t.sh", b"new", user="verifier")
        return await sandbox.get("/tests/t.sh"), await sandbox.get("/app/old")

    assert in_sandbox(body) == (b"new", b"old\n")


def test_a_dead_sandbox_is_an_infrastructure_error_everywhere(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> None:
        shell = await sandbox.shell()
        step = asyncio.ensure_future(shell.run("sleep 1000", timeout=100))
        execution = asyncio.ensure_future(sandbox.exec(["sleep", "1000"], timeout=100))
        await sandbox.exec(["sh", "-c", "until [ $(pgrep -c sleep) = 2 ]; do :; done"], timeout=30)
        os.kill(sandbox._holder.pid, signal.SIGKILL)
        uses: list[Any] = [
            step, execution, sandbox.exec(["true"], timeout=30), sandbox.shell(), sandbox.put("x", b""),
            sandbox.get("x"), sandbox.stop_agent(), sandbox.reset(), shell.run("true", timeout=30),
        ]  # fmt: skip
        for result in await asyncio.gather(*uses, return_exceptions=True):
            assert isinstance(result, InfrastructureError), result

    in_sandbox(body)


def test_a_directory_that_somebody_tidied_up_is_an_infrastructure_error(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> None:
        assert sandbox._state is not None
        (sandbox._state.path / "label.json").unlink()
        with pytest.raises(InfrastructureError, match="lost its directory"):
            await sandbox.reset()

    in_sandbox(body)


def test_a_cancelled_close_leaves_nothing_either(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> None:
        assert sandbox._state is not None
        path = sandbox._state.path
        opened = set(os.listdir("/proc/self/fd"))
        await sandbox.shell()
        closing = asyncio.ensure_future(sandbox.close())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert not path.exists()
        assert set(os.listdir("/proc/self/fd")) < opened

    in_sandbox(body)


def test_use_before_start_and_after_close_is_an_infrastructure_error() -> None:
    async def body() -> None:
        sandbox = make_sandbox(SandboxSpec())
        with pytest.raises(InfrastructureError):
            await sandbox.exec(["true"], timeout=30)
        await sandbox.close()
        await sandbox.close()
        with pytest.raises(InfrastructureError):
            await sandbox.reset()

    asyncio.run(body())


def test_many_at_once_leave_nothing(in_sandbox: Runner) -> None:
    async def one(index: int) -> str:
        sandbox = make_sandbox(SandboxSpec())
        await sandbox.start()
        try:
            shell = await sandbox.shell()
            await shell.run(f"echo {index} > f; sleep 1000 &", timeout=60)
            return (await shell.run("cat f", timeout=60)).output
        finally:
            await sandbox.close()

    async def body(_: NamespaceSandbox) -> list[str]:
        return await asyncio.gather(*(one(index) for index in range(16)))

    descriptors = len(os.listdir("/proc/self/fd"))
    assert in_sandbox(body) == [f"{index}\n" for index in range(16)]
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    owner = host.state_root() / f"{os.getpid()}-*"
    assert [path.name for path in owner.parent.glob(f"{owner.name}/s*")] == []


def test_a_root_file_system_in_place_of_the_hosts(in_sandbox: Runner, minimal_root: Path) -> None:
    root = minimal_root

    async def body(sandbox: NamespaceSandbox) -> list[str]:
        shell = await sandbox.shell()
        steps = [
            "cat /etc/issue; ls /",
            "echo x > /etc/issue && cat /etc/issue",
            "pwd; echo > f; ls /usr",
            "echo > /usr/bin/x && cat /usr/bin/x; [ -O /usr ] && echo mine",
        ]
        seen = [(await shell.run(step, timeout=30)).output for step in steps]
        await sandbox.reset()
        return [*seen, (await sandbox.exec(["cat", "/etc/issue"], timeout=30)).output]

    seen = in_sandbox(body, rootfs=str(root), workdir="/srv/app")
    assert seen[0].startswith("my own\n")
    assert seen[1:] == ["x\n", "/srv/app\nbin\nlib\n", "\nmine\n", "my own\n"]
    assert (root / "etc/issue").read_text() == "my own\n"


def test_a_removed_working_directory_costs_nothing_else(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> list[str]:
        shell = await sandbox.shell()
        await shell.run("cd /; rm -rf /app; exit", timeout=30)
        return [
            (await shell.run("pwd", timeout=30)).output,
            (await sandbox.exec(["pwd"], timeout=30)).output,
            (await sandbox.exec(["pwd"], timeout=30, user="verifier", cwd="/tmp")).output,
        ]

    assert in_sandbox(body) == ["/\n", "/\n", "/tmp\n"]


def test_granted_network_is_the_hosts(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> ExecResult:
        return await sandbox.exec(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"], timeout=30)

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert in_sandbox(body, network="full").exit_code == 0
        assert in_sandbox(body, network="none").exit_code == 1


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("fork failed: Resource temporarily unavailable", InfrastructureError),
        ("fork failed: Cannot allocate memory", InfrastructureError),
        ("unshare failed: Operation not permitted", UserError),
    ],
)
def test_a_machine_without_room_is_not_the_users_mistake(
    monkeypatch: pytest.MonkeyPatch, said: str, error: type[Exception]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        unshare = Path(folder, "unshare")
        unshare.write_text(f"#!/bin/sh\necho 'unshare: {said}'\nexit 1\n")
        unshare.chmod(0o755)
        monkeypatch.setattr(holder, "tools", lambda: host.tools() | {"unshare": str(unshare)})
        with pytest.raises(error, match=said):
            asyncio.run(NamespaceSandbox(SandboxSpec()).start())


def test_what_may_block_does_not_hold_up_the_event_loop(monkeypatch: pytest.MonkeyPatch, in_sandbox: Runner) -> None:
    threads: list[int] = []
    monkeypatch.setattr(backend, "sweep_once", lambda: threads.append(threading.get_ident()))

    async def body(sandbox: NamespaceSandbox) -> None:
        assert threads
        assert threading.get_ident() not in threads

    in_sandbox(body)


def test_an_old_bubblewrap_is_the_users_to_upgrade(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho bubblewrap 0.6.1\n")
    old.chmod(0o755)
    monkeypatch.setattr(host, "TOOL_PATH", f"{tmp_path}:{host.TOOL_PATH}")
    host.tools.cache_clear()
    try:
        with pytest.raises(UserError, match=r"0\.8 or newer.*0\.6\.1"):
            host.tools()
    finally:
        host.tools.cache_clear()


@pytest.mark.parametrize("argument", ["nul \0 byte", "lone \ud83d surrogate", "x" * 3_000_000])
def test_an_argument_that_no_program_can_get_is_an_os_error(in_sandbox: Runner, argument: str) -> None:
    async def body(sandbox: NamespaceSandbox) -> None:
        with pytest.raises(OSError, match=r"argument|too long"):
            await sandbox.exec(["echo", argument], timeout=30)
        with pytest.raises(OSError, match=r"argument|too long"):
            await sandbox.put(argument, b"")

    in_sandbox(body)


def test_a_cancelled_use_leaves_the_sandbox_usable(in_sandbox: Runner) -> None:
    async def body(sandbox: NamespaceSandbox) -> list[str]:
        seen = []
        for use in (sandbox.stop_agent, sandbox.reset, lambda: sandbox.exec(["false"], timeout=30), sandbox.shell):
            for turns in range(4):
                task = asyncio.ensure_future(use())
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await sandbox.reset()
            seen.append((await sandbox.exec(["pwd"], timeout=30)).output)
        return seen

    assert in_sandbox(body) == ["/app\n"] * 4
