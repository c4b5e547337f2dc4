"""Attacks on limits, on files and on what is left behind."""

import os
import select
import uuid
from pathlib import Path
from typing import Any

import pytest

from claw_envs.sandbox.namespace.cgroup import places


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
            agent.verifier(f"rm -rf /app{target} {target} {name}")
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
        assert int(agent.verifier("pgrep -c bash").output) <= 1  # the sandbox's own
        agent.run(agent.sandbox.reset())
        shell = agent.run(agent.sandbox.shell())
        assert agent.run(shell.run("echo fine", timeout=60)).output == "fine\n"


def test_the_number_of_processes_is_limited(fresh: Any) -> None:
    with fresh(pids=32) as agent:
        result = agent("for i in $(seq 200); do sleep 1000 & done 2>&1 | tail -1; pgrep -c sleep", timeout=3)
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


def test_memory_of_many_processes_is_counted_together(fresh: Any, backend: str) -> None:
    if backend == "namespace" and not any("memory" in place.controllers for place in places()):
        pytest.skip("without a memory cgroup the bound is per process")
    with fresh(memory_mb=128, disk_mb=16) as agent:
        hold = "/usr/bin/python3 -c 'x = bytearray(40 << 20); import time; time.sleep(1000)' & "
        agent(hold * 8 + "wait -n", timeout=30)
        assert int(agent("pgrep -c python3").output.split()[-1]) < 8


@pytest.mark.parametrize("place", ["/app", "/tmp", "/dev/shm", "~"])
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


def test_an_output_flood_is_bounded_in_memory(fresh: Any) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    with fresh(output_bytes=10_000) as agent:
        before = resident()
        result = agent("head -c 300000000 /dev/zero")
        assert result.truncated_bytes == 300_000_000 - 10_000
        assert resident() - before < 64 << 20


def test_no_process_is_left_after_close_or_reset(fresh: Any) -> None:
    marker = f"1000.{uuid.uuid4().int % 10**12:012}"
    start = (
        f"(setsid nohup sh -c 'trap \"\" HUP TERM INT; sleep {marker}; :' &); (sleep {marker} &); sleep {marker} & "
        f"until [ $(pgrep -fc {marker}) -ge 4 ]; do :; done"
    )
    with fresh() as agent:
        agent(start)
        first = _running(marker)
        assert len(first) >= 4  # the control: they can be seen
        agent.run(agent.sandbox.reset())
        assert all(map(_died, first))
        shell = agent.run(agent.sandbox.shell())
        agent.run(shell.run(start, timeout=60))
        second = _running(marker)
        assert len(second) >= 4
    assert all(map(_died, second))


def _running(marker: str) -> set[int]:
    """Host pids of all processes with `marker` in their command line."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if marker.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
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


def test_two_sandboxes_do_not_see_each_other(fresh: Any) -> None:
    with fresh() as one, fresh() as two:
        one("echo secret > /tmp/f; echo secret > /dev/shm/f; sleep 1000 &")
        assert two("cat /tmp/f /dev/shm/f; pgrep sleep").output.count("No such file") == 2
        assert two("pgrep sleep").output == ""
