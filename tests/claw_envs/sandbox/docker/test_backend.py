import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.docker.backend import DockerSandbox
from claw_envs.sandbox.docker.create import swaps_root
from claw_envs.sandbox.docker.engine import Engine
from claw_envs.sandbox.docker.labels import EXPIRES, OWNER, abandoned
from claw_envs.sandbox.docker.root import helper
from claw_envs.sandbox.namespace.host import TOOL_PATH

Runner = Callable[..., Any]
GONE = "while pgrep sleep > /dev/null; do :; done; echo gone"
"""What was killed is seen for a moment longer."""


def test_exec_joins_both_streams_in_order_and_takes_input(in_container: Runner) -> None:
    script = "id -u; pwd; cat; for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 4"

    async def body(sandbox: DockerSandbox) -> ExecResult:
        return await sandbox.exec(["sh", "-c", script], timeout=30, stdin=b"in\n")

    result = in_container(body, workdir="/work/deep")
    expected = "0\n/work/deep\nin\nout1\nerr1\nout2\nerr2\nout3\nerr3\n"
    assert result == ExecResult(expected, 4, cwd="/work/deep")


def test_the_images_user_directory_and_environment(in_container: Runner, worker: Path) -> None:
    async def body(sandbox: DockerSandbox) -> list[set[str]]:
        look = ["sh", "-c", "id -un; pwd; env"]
        shell = await sandbox.shell()
        more = {"MORE": "2", "PATH": "/evil", "HOME": "/evil"}
        results = [
            await sandbox.exec(look, timeout=30, env={"MORE": "1"}),
            await shell.run("id -un; pwd; env", timeout=30),
            await sandbox.exec(look, timeout=30, user="verifier", env=more, cwd="/tmp"),
        ]
        assert sandbox.workdir == "/home/worker"
        return [set(result.output.splitlines()) for result in results]

    path = "PATH=/opt/tools:/usr/local/bin:/usr/bin:/bin"
    agent, shell, verifier = in_container(body, build=str(worker), workdir="", env={"TASK": "1"})
    common = {"worker", "/home/worker", "HOME=/home/worker", "SET_BY=image", "TASK=1", path}
    assert common | {"MORE=1"} <= agent
    assert common <= shell
    assert {"root", "/tmp", "HOME=/root", "SET_BY=image", "MORE=2", path} <= verifier
    assert "TASK=1" not in verifier


def test_the_verifiers_search_path_where_the_image_sets_none(in_container: Runner) -> None:
    async def body(sandbox: DockerSandbox) -> str:
        return (await sandbox.exec(["sh", "-c", "echo $PATH"], timeout=30, user="verifier", env={"PATH": "/x"})).output

    assert in_container(body) == f"{TOOL_PATH}\n"


@pytest.mark.parametrize("root", [True, False])
def test_exec_stops_what_runs_over_with_its_children(
    in_container: Runner, request: pytest.FixtureRequest, root: bool
) -> None:
    if not root:
        request.getfixturevalue("as_user")

    async def body(sandbox: DockerSandbox) -> tuple[ExecResult, ExecResult]:
        stopped = await sandbox.exec(["sh", "-c", "echo begun; sleep 1000 | cat"], timeout=0.5)
        return stopped, await sandbox.exec(["sh", "-c", GONE], timeout=30)

    stopped, after = in_container(body)
    assert (stopped.output, stopped.exit_code, stopped.timed_out) == ("begun\n", None, True)
    assert after.output == "gone\n"


def test_exec_ends_with_its_command_whatever_holds_its_output(in_container: Runner) -> None:
    async def body(sandbox: DockerSandbox) -> ExecResult:
        return await sandbox.exec(["sh", "-c", "sleep 1000 & echo done"], timeout=60)

    assert in_container(body) == ExecResult("done\n", 0, cwd="/app")


def test_a_command_whose_shell_is_killed_has_an_exit_code(in_container: Runner) -> None:
    async def body(sandbox: DockerSandbox) -> int | None:
        return (await sandbox.exec(["sh", "-c", "kill -9 $PPID; kill -9 $$"], timeout=60)).exit_code

    assert in_container(body) == 137


def test_output_is_bounded(in_container: Runner) -> None:
    async def body(sandbox: DockerSandbox) -> tuple[ExecResult, ExecResult]:
        shell = await sandbox.shell()
        flood = "head -c 20000000 /dev/zero"
        return await sandbox.exec(["sh", "-c", flood], timeout=60), await shell.run(flood, timeout=60)

    for result in in_container(body, output_bytes=100):
        assert result.truncated_bytes == 20_000_000 - 100


def test_a_missing_program_or_directory_is_an_exit_code(in_container: Runner) -> None:
    async def body(sandbox: DockerSandbox) -> list[ExecResult]:
        return [
            await sandbox.exec(["no-such-program"], timeout=30),
            await sandbox.exec(["true"], timeout=30, cwd="/no/such/directory"),
        ]

    for result, name in zip(in_container(body), ("no-such-program", "/no/such/directory"), strict=True):
        assert result.exit_code not in (0, None)
        assert name in result.output


def test_put_and_get(in_container: Runner, worker: Path) -> None:
    data = bytes(range(256)) * 4000

    async def body(sandbox: DockerSandbox) -> list[Any]:
        await sandbox.put("a b/c'd", data, mode=0o755)
        await sandbox.put("relative", b"r")
        await sandbox.put("relative", b"")
        await sandbox.put("/root/deep/mine", b"m", user="verifier")
        stat = await sandbox.exec(["stat", "-c", "%a %U", "a b/c'd"], timeout=30)
        return [
            await sandbox.get("/home/worker/a b/c'd"),
            await sandbox.get("relative"),
            await sandbox.get("/root/deep/mine"),
            stat.output,
        ]

    assert in_container(body, build=str(worker), workdir="") == [data, b"", b"m", "755 worker\n"]


def test_get_tells_what_is_wrong_and_is_bounded(in_container: Runner, worker: Path) -> None:
    async def body(sandbox: DockerSandbox) -> bytes:
        with pytest.raises(FileNotFoundError):
            await sandbox.get("none")
        await sandbox.exec(["mkfifo", "fifo"], timeout=30)
        for path in ("/home", "fifo", "/dev/zero"):
            with pytest.raises(OSError, match="not a regular file"):
                await sandbox.get(path)
        with pytest.raises(OSError, match="denied"):
            await sandbox.put("/usr/bin/evil", b"")
        await sandbox.put("big", b"x" * 1000)
        return await sandbox.get("big", max_bytes=10)

    assert in_container(body, build=str(worker), workdir="") == b"x" * 10


@pytest.mark.parametrize("argument", ["nul \0 byte", "lone \ud83d surrogate", "x" * 3_000_000])
def test_an_argument_that_no_program_can_get_is_an_os_error(in_container: Runner, argument: str) -> None:
    async def body(sandbox: DockerSandbox) -> None:
        with pytest.raises(OSError, match=r"argument|too long"):
            await sandbox.exec(["echo", argument], timeout=30)
        with pytest.raises(OSError, match=r"argument|too long"):
            await sandbox.put(argument, b"")

    in_container(body)


@pytest.mark.parametrize("root", [True, False])
def test_files_and_setup_are_the_agents_and_reset_goes_back_to_them(
    in_container: Runner, worker: Path, tmp_path: Path, request: pytest.FixtureRequest, root: bool
) -> None:
    if not root:
        request.getfixturevalue("as_user")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/run.sh").write_text("echo run")
    (tmp_path / "data/run.sh").chmod(0o755)
    look = "stat -c '%U %n' /srv/d /srv/d/run.sh made /new/place; cat made; /srv/d/run.sh; pgrep -c sleep; ls /srv/d"
    spoil = "sleep 1000 & (setsid sleep 1000 &); rm made /srv/d/run.sh; touch x /tmp/x /dev/shm/x /srv/d/x"

    async def body(sandbox: DockerSandbox) -> list[str]:
        seen = []
        for _ in range(2):
            shell = await sandbox.shell()
            seen.append((await shell.run(look, timeout=30)).output)
            assert (await shell.run(spoil, timeout=30)).exit_code == 0
            await sandbox.reset()
            with pytest.raises(InfrastructureError):
                await shell.run("true", timeout=30)
        return seen

    files = {"/srv/d": str(tmp_path / "data")}
    setup = ("id -un > made", "echo $TASK >> made")
    seen = in_container(body, build=str(worker), workdir="/new/place", files=files, setup=setup, env={"TASK": "t"})
    names = ["/srv/d", "/srv/d/run.sh", "made", "/new/place"]
    expected = "".join(f"worker {name}\n" for name in names) + "worker\nt\nrun\n0\nrun.sh\n"
    assert seen == [expected] * 2


def test_a_failed_setup_is_infrastructure_with_its_log(in_container: Runner, ours: Callable[[], list[str]]) -> None:
    async def body(sandbox: DockerSandbox) -> None: ...

    with pytest.raises(InfrastructureError, match=r"exit code 3.*the reason"):
        in_container(body, setup=("echo the reason; exit 3",))
    with pytest.raises(UserError, match="does not exist"):
        in_container(body, files={"/app/x": "/no/such/file"})
    assert ours() == []


@pytest.mark.parametrize("root", [True, False])
def test_an_agent_that_is_stopped_is_gone_and_its_files_are_not(
    in_container: Runner, request: pytest.FixtureRequest, root: bool
) -> None:
    if not root:
        request.getfixturevalue("as_user")

    async def body(sandbox: DockerSandbox) -> ExecResult:
        shell = await sandbox.shell()
        await shell.run("echo secret > mine; chmod 0 mine; sleep 1000 & (setsid sleep 1000 &)", timeout=30)
        await sandbox.stop_agent()
        with pytest.raises(InfrastructureError):
            await shell.run("true", timeout=30)
        return await sandbox.exec(["sh", "-c", "cat mine; pgrep -c sleep"], timeout=30, user="verifier")

    assert in_container(body).output == "secret\n0\n"


def test_a_killed_container_is_an_infrastructure_error_everywhere(in_container: Runner, engine: Engine) -> None:
    async def body(sandbox: DockerSandbox) -> None:
        shell = await sandbox.shell()
        ended: list[bytes] = []
        terminal = await sandbox.terminal("sleep 1000", sink=ended.append)
        step = asyncio.ensure_future(shell.run("sleep 1000", timeout=100))
        execution = asyncio.ensure_future(sandbox.exec(["sleep", "1000"], timeout=100))
        await sandbox.exec(["sh", "-c", "until [ $(pgrep -c sleep) = 3 ]; do :; done"], timeout=30)
        assert sandbox._container is not None
        await engine.call(engine.api.kill, sandbox._container.id)
        uses: list[Any] = [
            step, execution, sandbox.exec(["true"], timeout=30), sandbox.shell(), sandbox.put("x", b""),
            sandbox.get("x"), sandbox.stop_agent(), shell.run("true", timeout=30),
            sandbox.terminal("true", sink=ended.append),
        ]  # fmt: skip
        for result in await asyncio.gather(*uses, return_exceptions=True):
            assert isinstance(result, InfrastructureError), result
        assert await terminal.ended is None

    in_container(body)


def test_use_before_start_and_after_close_is_an_infrastructure_error(in_container: Runner) -> None:
    async def body(sandbox: DockerSandbox) -> None:
        other = DockerSandbox(SandboxSpec())
        with pytest.raises(InfrastructureError):
            await other.exec(["true"], timeout=30)
        await other.close()
        await sandbox.close()
        await sandbox.close()
        with pytest.raises(InfrastructureError):
            await sandbox.reset()

    in_container(body)


def test_a_start_that_is_cancelled_leaves_nothing(engine: Engine, ours: Callable[[], list[str]]) -> None:
    async def main() -> None:
        for moment in (0.0, 0.05, 0.1, 0.2, 0.3, 0.4):
            sandbox = DockerSandbox(SandboxSpec(setup=("sleep 1000",)))
            starting = asyncio.ensure_future(sandbox.start())
            await asyncio.wait([starting], timeout=moment)
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting

    asyncio.run(main())
    assert ours() == []


def test_a_cancelled_use_leaves_the_sandbox_usable(in_container: Runner) -> None:
    async def body(sandbox: DockerSandbox) -> list[str]:
        seen = []
        for use in (sandbox.stop_agent, sandbox.reset, lambda: sandbox.exec(["false"], timeout=30), sandbox.shell):
            for turns in range(4):
                task = asyncio.ensure_future(use())
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await sandbox.reset()
            seen.append((await sandbox.exec(["sh", "-c", "pwd; pgrep -c bash"], timeout=30)).output)
        return seen

    assert in_container(body) == ["/app\n1\n"] * 4  # the first process is one


def test_a_close_that_is_cancelled_leaves_nothing(engine: Engine, ours: Callable[[], list[str]]) -> None:
    async def main() -> None:
        sandbox = DockerSandbox(SandboxSpec())
        await sandbox.start()
        await sandbox.shell()
        closing = asyncio.ensure_future(sandbox.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing

    asyncio.run(main())
    assert ours() == []


def test_many_at_once_leave_nothing(engine: Engine, ours: Callable[[], list[str]]) -> None:
    async def one(index: int) -> str:
        sandbox = DockerSandbox(SandboxSpec())
        await sandbox.start()
        try:
            assert sandbox.resets_in_place == swaps_root(engine)
            shell = await sandbox.shell()
            await shell.run(f"echo {index} > f; sleep 1000 &", timeout=60)
            return (await shell.run("cat f", timeout=60)).output
        finally:
            await sandbox.close()

    async def main() -> list[str]:
        return await asyncio.gather(*(one(index) for index in range(24)))

    assert asyncio.run(main()) == [f"{index}\n" for index in range(24)]
    assert ours() == []


def test_containers_are_labelled(in_container: Runner, engine: Engine) -> None:
    async def body(sandbox: DockerSandbox) -> dict[str, str]:
        assert sandbox._container is not None
        found = await engine.call(engine.api.inspect_container, sandbox._container.id)
        labels: dict[str, str] = found["Config"]["Labels"]
        return labels

    labels = in_container(body)
    assert f":{os.getpid()}-" in labels[OWNER]
    assert int(labels[EXPIRES]) > time.time()
    assert not abandoned(labels)


def test_an_allow_list_of_hosts_is_an_egress_proxy(in_container: Runner, swaps: None) -> None:
    ask = "import urllib.request as u\ntry: u.urlopen('http://example.org')\nexcept u.HTTPError as e: print(e.code)"

    async def body(sandbox: DockerSandbox) -> ExecResult:
        return await sandbox.exec(["python3", "-c", ask], timeout=60)

    assert in_container(body, network=("allowed.example",)).output == "403\n"


def test_an_allow_list_of_hosts_needs_root(in_container: Runner, as_user: None) -> None:
    async def body(sandbox: DockerSandbox) -> None: ...

    with pytest.raises(UserError, match="needs root"):
        in_container(body, network=("example.org",))


def test_the_helper_is_out_of_a_terminals_reach(in_container: Runner, swaps: None) -> None:
    """A terminal sends Ctrl-C to all of its processes; the helper must live to the owner's end."""

    async def body(sandbox: DockerSandbox) -> None:
        assert os.getsid(helper()._process.pid) != os.getsid(0)

    in_container(body)
