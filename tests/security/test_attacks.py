"""Attacks on limits, on files and on what is left behind."""

import asyncio
import os
import select
import uuid
from pathlib import Path
from typing import Any

import pytest

from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.namespace.cgroup import places, remove_left
from claw_envs.sandbox.namespace.host import identity


def _controllers() -> set[str]:
    return {name for place in places() for name in place.controllers}


@pytest.mark.parametrize("up", ["", "../../../../../.."])
@pytest.mark.parametrize("user", ["agent", "verifier"])
def test_put_and_get_do_not_lead_out(fresh: Any, tmp_path: Path, up: str, user: str) -> None:
    target = tmp_path / "target"
    target.write_text("host")
    with fresh() as agent:
        agent(f"ln -s {up}{target} link; mkdir -p deep; ln -s {up}{target} deep/link")
        for name in ("link", "deep/link", f"/app/{up}{target}", f"{up}{target}"):
            with pytest.raises(FileNotFoundError):
                agent.run(agent.sandbox.get(name))
            agent.run(agent.sandbox.put(name, b"evil", user=user))
            assert agent.run(agent.sandbox.get(name)) == b"evil"
            agent.run(
                agent.sandbox.exec(["rm", "-rf", f"/app{target}", str(target), name], timeout=60, user="verifier")
            )
    assert target.read_text() == "host"  # the control: it exists, and the name is right


def test_a_linked_directory_does_not_lead_out(fresh: Any, tmp_path: Path) -> None:
    secret = uuid.uuid4().hex
    (tmp_path / "secret").write_text(secret)
    with fresh() as agent:
        agent(f"ln -s {tmp_path} out; ln -s /proc/1/root root; ln -s /proc/self/root/.. self")
        for path in ("out/secret", f"root{tmp_path}/secret", f"self{tmp_path}/secret"):
            with pytest.raises(OSError):  # noqa: PT011  FileNotFoundError or denied, as the link goes
                agent.run(agent.sandbox.get(path))
        with pytest.raises(OSError):  # noqa: PT011
            agent.run(agent.sandbox.put("out/written", b"evil", user="verifier"))
    assert os.listdir(tmp_path) == ["secret"]


def test_a_fork_bomb_is_bounded_and_the_sandbox_recovers(fresh: Any) -> None:
    with fresh(pids=64) as agent:
        agent(":(){ :|:& };:", timeout=2)
        agent.run(agent.sandbox.stop_agent())
        result = agent.run(agent.sandbox.exec(["pgrep", "-c", "bash"], timeout=60, user="verifier"))
        assert int(result.output) <= 1  # the holder
        agent.run(agent.sandbox.reset())
        shell = agent.run(agent.sandbox.shell())
        assert agent.run(shell.run("echo fine", timeout=60)).output == "fine\n"


def test_the_number_of_processes_is_limited(fresh: Any) -> None:
    with fresh(pids=32) as agent:
        result = agent("for i in $(seq 200); do sleep 1000 & done 2>&1 | tail -1; pgrep -c sleep", timeout=30)
        more = agent("pgrep -c sleep")
        assert "200" not in result.output.split()
        assert "200" not in more.output.split()


def test_a_memory_bomb_is_stopped_and_the_owner_lives(fresh: Any) -> None:
    bomb = "/usr/bin/python3 -c 'x = bytearray(600 << 20); print(len(x))'"
    with fresh(memory_mb=64, disk_mb=64) as agent:
        result = agent(bomb)
        assert "629145600" not in result.output
        assert agent("echo fine").output.endswith("fine\n")
    with fresh(memory_mb=1024) as agent:
        assert agent(bomb).output == "629145600\n"  # the control


@pytest.mark.skipif("memory" not in _controllers(), reason="without a memory cgroup the bound is per process")
def test_memory_of_many_processes_is_counted_together(fresh: Any) -> None:
    with fresh(memory_mb=128, disk_mb=16) as agent:
        hold = "/usr/bin/python3 -c 'x = bytearray(40 << 20); import time; time.sleep(1000)' & "
        agent(hold * 8 + "wait -n", timeout=30)
        assert int(agent("pgrep -c python3").output.split()[-1]) < 8


@pytest.mark.parametrize("place", ["/app", "/tmp", "/dev/shm", "/home/agent"])
def test_filling_the_disk_is_bounded(fresh: Any, place: str) -> None:
    with fresh(disk_mb=16) as agent:
        full = agent(f"head -c 100000000 /dev/zero > {place}/fill; stat -c %s {place}/fill")
        assert "No space left on device" in full.output
        assert int(full.output.split()[-1]) <= 16 << 20
        agent.run(agent.sandbox.stop_agent())
        agent.run(agent.sandbox.put("/logs/verifier/reward.txt", b"0", user="verifier"))
        agent.run(agent.sandbox.reset())
        shell = agent.run(agent.sandbox.shell())
        assert agent.run(shell.run("echo x > f && cat f", timeout=60)).output == "x\n"


def test_filling_the_disk_with_empty_files_is_bounded(fresh: Any) -> None:
    with fresh(disk_mb=16) as agent:
        many = "import itertools\nfor i in itertools.count(): open(f'/tmp/{i}', 'x').close()"
        result = agent(f'/usr/bin/python3 -c "{many}"')
        assert "No space left on device" in result.output
        agent.run(agent.sandbox.stop_agent())
        agent.run(agent.sandbox.put("/logs/verifier/reward.txt", b"0", user="verifier"))


def test_nothing_else_is_writable(fresh: Any) -> None:
    with fresh() as agent:
        for place in ("/dev", "/usr", "/usr/bin", "/bin", "/etc", "/etc/ssl", "/proc", "/dev/pts", "/proc/self"):
            assert agent(f"touch {place}/x").exit_code != 0, place


def test_an_output_flood_is_bounded_in_memory(fresh: Any) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    with fresh(output_bytes=10_000) as agent:
        before = resident()
        result = agent("head -c 300000000 /dev/zero")
        assert result.truncated_bytes == 300_000_000 - 10_000
        assert resident() - before < 64 << 20


def test_no_process_is_left_after_close_or_reset(fresh: Any) -> None:
    with fresh() as agent:
        sandbox = agent.sandbox
        assert isinstance(sandbox, NamespaceSandbox)
        agent("(setsid nohup sh -c 'trap \"\" HUP TERM INT; sleep 1000' &) ; (sleep 1000 &); sleep 1000 &")
        namespace = os.readlink(f"/proc/{sandbox._holder.pid}/ns/pid")
        first = _in_namespace(namespace)
        agent.run(sandbox.reset())
        for pid in first - {sandbox._holder.pid}:
            assert _died(pid)
        agent.run(sandbox.shell())
        second = _in_namespace(namespace)
    assert all(_died(pid) for pid in second)


def _in_namespace(namespace: str) -> set[int]:
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/ns/pid") == namespace:
                found.add(int(name))
        except OSError:
            continue
    return found


def _died(pid: int) -> bool:
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(fd):
        return bool(select.select([fd], [], [], 30)[0])


def test_the_agent_cannot_kill_the_machine(fresh: Any) -> None:
    with fresh() as agent:
        agent("kill -9 1; kill -TERM 1; kill -INT 1; kill -SEGV 1")
        agent("kill -9 -1")
        agent("for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; done")
        agent("true")
        assert agent("echo fine").output.endswith("fine\n")


@pytest.mark.parametrize("tree", ["/usr", "/bin", "/lib", "/lib64", "/etc", "/dev", "/proc"])
def test_what_the_verifier_runs_on_cannot_be_moved_away(fresh: Any, tree: str) -> None:
    with fresh() as agent:
        agent("mkdir /tmp/own; touch /tmp/own/x")  # the control: what is the agent's own can be moved
        assert agent("mv /tmp/own /own").exit_code == 0
        for attack in (f"mv {tree} /moved", f"rm -r {tree}", f"rmdir {tree}", f"ln -sfn /own {tree}"):
            agent(attack)
        result = agent.run(agent.sandbox.exec(["ls", f"{tree}/x"], timeout=60, user="verifier"))
        assert "cannot access" in result.output
        assert agent.run(agent.sandbox.exec(["id", "-un"], timeout=60, user="verifier")).output == "root\n"


def test_no_code_of_the_agents_gets_into_the_verifiers_programs(fresh: Any) -> None:
    """The loader's preload list, Python's site hooks, alternatives, start-up files, and what an environment names."""
    plant = """
    echo 'print("planted")' > /tmp/plant.py
    for f in /etc/ld.so.preload /etc/python3*/sitecustomize.py /etc/alternatives/awk /etc/profile /etc/bash.bashrc; do
      cp /tmp/plant.py $f
    done
    site=.local/lib/python3.11/site-packages; mkdir -p ~/$site /root/$site
    cp /tmp/plant.py ~/$site/usercustomize.py; cp /tmp/plant.py /root/$site/usercustomize.py
    cp /tmp/plant.py /root/.bashrc
    export PYTHONSTARTUP=/tmp/plant.py BASH_ENV=/tmp/plant.py LD_PRELOAD=/tmp/plant.py
    """
    script = "cd /; awk 'BEGIN {print 1}'; python3 -c 'print(2)'"
    with fresh() as agent:
        agent(plant)
        assert agent("unset LD_PRELOAD; python3 -c ''").output == "planted\n"  # the control: the agent's own is hooked
        agent.run(agent.sandbox.stop_agent())
        after = agent.run(agent.sandbox.exec(["bash", "-lc", script], timeout=60, user="verifier"))
        assert after.output == "1\n2\n"


def test_files_of_the_verifier_cannot_be_written_while_the_agent_runs(fresh: Any) -> None:
    if not identity().privileged:
        pytest.skip("an ordinary user has one id: the agent is stopped before the verifier writes")
    with fresh() as agent:
        agent.run(agent.sandbox.exec(["mkdir", "-m", "755", "/verifier"], timeout=60, user="verifier"))
        agent.run(agent.sandbox.put("/verifier/reward", b"0", user="verifier"))
        for attack in ("echo 1 > /verifier/reward", "rm /verifier/reward", "touch /verifier/x", "chmod 777 /verifier"):
            assert agent(attack).exit_code != 0, attack
        assert agent.run(agent.sandbox.get("/verifier/reward")) == b"0"


def test_two_sandboxes_do_not_see_each_other(fresh: Any) -> None:
    with fresh() as one, fresh() as two:
        one("echo secret > /tmp/f; echo secret > /dev/shm/f; sleep 1000 &")
        assert two("cat /tmp/f /dev/shm/f; pgrep sleep").output.count("No such file") == 2
        assert two("pgrep sleep").output == ""


def test_a_closed_sandbox_leaves_no_state(fresh: Any) -> None:
    with fresh() as agent:
        path = agent.sandbox._state.path
        groups = list(agent.sandbox._limiter.groups)
        assert path.is_dir()
    assert not path.exists()
    while not remove_left():
        pass
    assert not any(group.exists() for group in groups)
    assert str(path) not in Path("/proc/self/mounts").read_text()


def test_cancelling_a_start_leaves_nothing(fresh: Any) -> None:
    from claw_envs.core.task import SandboxSpec
    from claw_envs.sandbox.namespace.host import state_root

    async def main() -> None:
        sandbox = NamespaceSandbox(SandboxSpec(setup=("sleep 1000",)))
        task = asyncio.ensure_future(sandbox.start())
        await asyncio.wait({task}, timeout=1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(main())
    assert len(os.listdir("/proc/self/fd")) <= before
    assert not list(state_root().glob(f"{os.getpid()}-*/s*"))
