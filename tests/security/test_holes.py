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
from claw_envs.sandbox.namespace import base_root
from claw_envs.sandbox.namespace.host import identity

READ_ALL_ENVIRONMENTS = "cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null | tr '\\0' '\\n'"


def test_the_launchers_environment_is_nowhere_in_proc(monkeypatch: pytest.MonkeyPatch, fresh: Any) -> None:
    secret = uuid.uuid4().hex
    monkeypatch.setenv("CLAW_TEST_API_KEY", secret)
    with fresh() as agent:
        assert secret not in agent(READ_ALL_ENVIRONMENTS).output
        assert secret not in agent("env; cat /proc/[0-9]*/cmdline 2>/dev/null").output
        verifier = agent.sandbox.exec(["sh", "-c", READ_ALL_ENVIRONMENTS + "; env"], timeout=60, user="verifier")
        assert secret not in agent.run(verifier).output
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
    for path in ("/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/sys/kernel/mm/ksm/run", "/dev/kmsg"):
        assert agent(f"echo 0 > {path}").exit_code != 0, path
    assert agent("ls /sys").output == ""


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
    routes = agent("cat /proc/net/route | tail -n +2; ls /proc/sys/net/ipv4/conf")
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
            assert (
                str(tmp_path)
                not in agent.run(agent.sandbox.exec(["sh", "-c", links], timeout=60, user="verifier")).output
            )
    finally:
        os.close(fd)


@pytest.mark.parametrize("attack", ["unshare -U true", "unshare -Ur true", "unshare -Urm mount -t tmpfs none /mnt"])
def test_no_user_namespace_inside(agent: Any, attack: str) -> None:
    refused = agent(attack)
    assert refused.exit_code != 0
    assert "unshare" in refused.output


def test_no_capabilities_and_no_new_privileges(agent: Any) -> None:
    status = dict(line.split(":\t") for line in agent("cat /proc/self/status").output.splitlines())
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert agent("id -u").output == "1000\n"


@pytest.mark.parametrize(
    "place", ["/home", "/root", "/tmp", "/run", "/var/run", "/opt", "/srv", "/mnt", "/media", "/sys"]
)
def test_host_directories_are_empty(agent: Any, place: str) -> None:
    files = agent(f"find {place}/ -type f 2>/dev/null").output
    assert files in ("", "/tmp/value\n")


def test_the_hosts_temporary_directory_and_the_owners_files_are_out_of_sight(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "engine.sock").write_text("")
    for path in (tmp_path, Path(__file__), Path(base_root.__file__), Path.home() / ".ssh", Path("/etc/shadow")):
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


def test_the_host_cannot_be_seen_through_the_launchers_of_other_commands(agent: Any) -> None:
    """bubblewrap's own processes still have the host's root: their /proc entries must stay shut."""
    agent("sleep 1000 &")
    roots = "for p in /proc/[0-9]*; do ls -d $p/root/boot $p/root/home/*/ $p/root/run/claw-envs 2>/dev/null; done"
    assert set(agent(roots).output.split("\n")) <= {"", *(f"/proc/{pid}/root/home/agent/" for pid in range(100_000))}
    launchers = agent("pgrep bwrap").output.split()
    assert launchers
    for pid in launchers:
        for name in ("root/", "cwd/", "exe", "environ", "maps", "mem", "fd/"):
            refused = agent(f"ls -L /proc/{pid}/{name} && head -c 1 /proc/{pid}/{name}")
            assert refused.exit_code != 0, name


def test_installed_copies_of_our_own_packages_are_masked(monkeypatch: pytest.MonkeyPatch, fresh: Any) -> None:
    secret = "/usr/share/perl5" if Path("/usr/share/perl5").is_dir() else "/usr/share/doc"
    with fresh() as agent:
        assert agent(f"ls {secret} | wc -l").output != "0\n"  # the control
    monkeypatch.setattr(base_root, "package_directories", lambda: (secret,))
    with fresh() as agent:
        assert agent(f"ls -A {secret}").output == ""
        assert agent(f"touch {secret}/x").exit_code != 0


def test_where_our_own_packages_lie_is_known() -> None:
    base_root.package_directories.cache_clear()
    found = base_root.package_directories()
    assert str(Path(claw_envs.__file__).parent) in found
    assert any(place.endswith("/tasks") for place in found)


def test_the_shells_control_channel_is_not_inherited(agent: Any) -> None:
    assert {"10", "11", "12"} <= set(
        agent("echo /proc/$$/fd/*").output.replace("/", " ").split()
    )  # the control: bash's
    assert agent("ls /proc/self/fd").output.split() == ["0", "1", "2", "3"]
