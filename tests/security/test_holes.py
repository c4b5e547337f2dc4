"""Holes that were really open in sandboxes of this kind. Every attack has a control that shows that it can succeed."""

import os
import socket
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

import pytest

import claw_envs
from claw_envs.sandbox.namespace.host import identity

READ_ALL_ENVIRONMENTS = "cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null | tr '\\0' '\\n'"


def test_the_launchers_environment_is_nowhere_in_proc(monkeypatch: pytest.MonkeyPatch, fresh: Any) -> None:
    secret = uuid.uuid4().hex
    monkeypatch.setenv("CLAW_TEST_API_KEY", secret)
    with fresh() as agent:
        assert secret not in agent(READ_ALL_ENVIRONMENTS).output
        assert secret not in agent("env; cat /proc/[0-9]*/cmdline 2>/dev/null").output
        assert secret not in agent.verifier(READ_ALL_ENVIRONMENTS + "; env").output
    control = subprocess.run(["sh", "-c", READ_ALL_ENVIRONMENTS], capture_output=True, text=True, check=False)
    assert secret in control.stdout


@pytest.mark.parametrize("user", ["agent", "verifier"])
@pytest.mark.parametrize(
    "name", ["kernel/core_pattern", "kernel/hostname", "vm/overcommit_memory", "net/ipv4/ip_forward"]
)
def test_kernel_settings_cannot_be_written(agent: Any, user: str, name: str) -> None:
    path = f"/proc/sys/{name}"
    before = Path(path).read_text()
    write = f"cat {path} > /tmp/value && cat /tmp/value > {path}"
    result = agent.run(agent.sandbox.exec(["sh", "-c", write], timeout=60, user=user))
    assert result.exit_code != 0
    assert path in result.output
    assert Path(path).read_text() == before
    if identity().privileged:
        Path(path).write_text(before)  # the control: it is writable for whoever is root here


def test_other_kernel_interfaces_cannot_be_written(agent: Any) -> None:
    paths = ("/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/sys/kernel/mm/ksm/run")
    assert any(map(os.path.exists, paths))  # the control
    for path in paths:
        assert agent(f"echo 0 > {path}").exit_code != 0, path


def test_there_are_no_devices_but_the_harmless_ones(agent: Any) -> None:
    assert Path("/dev/kmsg").is_char_device()  # the control
    found = agent("find /dev -type b -o -type c | grep -v /pts/").output.split()
    harmless = ("null", "zero", "full", "random", "urandom", "tty", "console", "ptmx")
    assert set(found) <= {f"/dev/{name}" for name in harmless}
    assert agent("mknod /tmp/kmsg c 1 11 || mknod /tmp/disk b 8 0").exit_code != 0


def test_a_sandbox_outlives_the_thread_that_started_it(fresh: Any) -> None:
    found: list[Any] = []
    contexts: list[Any] = []

    def start() -> None:
        contexts.append(fresh())
        found.append(contexts[0].__enter__())

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    try:
        assert found[0]("echo alive").output == "alive\n"
    finally:
        contexts[0].__exit__(None, None, None)


def test_host_loopback_cannot_be_reached(agent: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        attack = f"exec 3<>/dev/tcp/127.0.0.1/{port}"
        assert subprocess.run(["bash", "-c", attack], check=False).returncode == 0  # the control
        assert agent(f"({attack})").exit_code != 0
    routes = agent("tail -n +2 /proc/net/route | grep -v ^lo; ls /proc/sys/net/ipv4/conf")
    assert routes.output.split() == ["all", "default", "lo"]


def test_the_sandboxes_own_loopback_works(agent: Any) -> None:
    serve = "import socket; s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname())"
    assert agent(f'/usr/bin/python3 -c "{serve}; print(c.getpeername()[0])"').output == "127.0.0.1\n"


def test_abstract_sockets_of_the_host_cannot_be_reached(agent: Any) -> None:
    name = uuid.uuid4().hex
    attack = f"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + '{name}')"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + name)
        server.listen()
        assert subprocess.run([sys.executable, "-c", attack], check=False).returncode == 0  # the control
        refused = agent(f'/usr/bin/python3 -c "{attack}"')
    assert refused.exit_code == 1
    assert "ConnectionRefusedError" in refused.output


def test_descriptors_of_the_owner_are_not_inherited(tmp_path: Path, fresh: Any) -> None:
    secret = uuid.uuid4().hex
    (tmp_path / "secret").write_text(secret)
    fd = os.open(tmp_path / "secret", os.O_RDONLY)
    os.set_inheritable(fd, True)
    try:
        read = "for fd in $(seq 3 255); do timeout 1 cat <&$fd; done 2>/dev/null; true"
        control = subprocess.run(["bash", "-c", read], capture_output=True, text=True, close_fds=False, check=False)
        assert secret in control.stdout
        with fresh() as agent:
            assert secret not in agent(read, timeout=120).output
            links = "ls -l /proc/[0-9]*/fd"
            assert str(tmp_path) not in agent(links).output
            assert str(tmp_path) not in agent.verifier(links).output
    finally:
        os.close(fd)


@pytest.mark.parametrize("attack", ["unshare -U true", "unshare -Ur true", "unshare -Urm mount -t tmpfs none /mnt"])
def test_no_user_namespace_inside(agent: Any, attack: str) -> None:
    refused = agent(attack)
    assert refused.exit_code != 0
    assert "unshare" in refused.output


def test_the_hosts_temporary_directory_and_the_owners_files_are_out_of_sight(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "engine.sock").write_text("")
    for path in (tmp_path, Path(__file__), Path(claw_envs.__file__), Path.home() / ".ssh"):
        assert agent(f"ls '{path}'").exit_code != 0, path


def test_processes_of_the_host_are_out_of_sight(agent: Any) -> None:
    marker = f"{time_like()}"
    process = subprocess.Popen(["sleep", marker])
    try:
        assert marker in subprocess.run(["ps", "ax"], capture_output=True, text=True, check=True).stdout  # the control
        assert marker not in agent("ps ax; cat /proc/[0-9]*/cmdline").output
        agent(f"kill -9 {process.pid}")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def time_like() -> str:
    return str(10_000_000 + uuid.uuid4().int % 1_000_000)


def test_the_shells_control_channel_is_not_inherited(agent: Any) -> None:
    assert len(agent("echo /proc/$$/fd/*").output.split()) > 4  # the control: bash has more
    assert agent("ls /proc/self/fd").output.split() == ["0", "1", "2", "3"]
