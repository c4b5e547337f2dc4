"""What only the docker backend promises: containers are hardened as `create` says, and know nothing of the engine."""

import socket
from pathlib import Path
from typing import Any

import pytest

from claw_envs.sandbox.docker.create import CAPABILITIES

CAPABILITY_NUMBERS = {"CHOWN": 0, "DAC_OVERRIDE": 1, "FOWNER": 3, "FSETID": 4, "KILL": 5, "SETGID": 6, "SETUID": 7}


@pytest.fixture(scope="module", params=["docker"])
def backend(request: pytest.FixtureRequest, usable: Any) -> str:
    """This one alone."""
    return usable(request.param)


def inspect(agent: Any) -> Any:
    """What the engine says of the agent's container."""
    container = agent.sandbox._container
    return container.engine.api.inspect_container(container.id)


@pytest.mark.parametrize("user", ["agent", "verifier"])
def test_capabilities_are_the_documented_ones_and_no_more_can_be_had(agent: Any, user: str) -> None:
    script = "cat /proc/self/status"
    said = agent.verifier(script) if user == "verifier" else agent(script)
    status = dict(line.split(":\t") for line in said.output.splitlines())
    allowed = sum(1 << CAPABILITY_NUMBERS[name] for name in CAPABILITIES)
    for name in ("CapPrm", "CapEff", "CapBnd"):
        assert int(status[name], 16) & ~allowed == 0, name
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    own = Path("/proc/self/status").read_text()
    assert "Seccomp:\t0" in own  # the control: we are not filtered


@pytest.mark.parametrize(
    "attack",
    [
        "mount -t tmpfs none /mnt",
        "mount --bind / /mnt",
        "umount -l /proc/sys",
        "mount -o remount,rw /sys",
        "mount -o remount,rw /proc/sys",
        "chroot / true",
        "nsenter -t 1 -a true",
        "unshare -m true",
        "unshare -n true",
        "hostname other",
        "sysctl -w kernel.core_pattern=x",
        "mknod /tmp/disk b 8 0",
        "date -s 2001-01-01",
        "renice -n -5 $$",
    ],
)
def test_root_inside_may_not(agent: Any, attack: str) -> None:
    assert agent("id -u").output == "0\n"  # the control: it is root, and nothing but its capabilities stops it
    assert agent(attack).exit_code != 0


def test_the_engine_is_out_of_sight(agent: Any) -> None:
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(agent.sandbox._engine.url.removeprefix("unix://"))
    assert agent("ls /var/run/docker.sock /run/docker.sock /run/podman /run/containerd").exit_code != 0
    assert agent("find / -xdev -type s 2>/dev/null").output == ""
    assert agent("env | grep -i docker").output == ""


def test_nothing_of_the_hosts_is_mounted(agent: Any, tmp_path: Path) -> None:
    found = inspect(agent)
    assert not found["HostConfig"]["Binds"]
    assert not found["Mounts"]
    assert not found["HostConfig"]["Privileged"]
    assert {found["HostConfig"][name] for name in ("PidMode", "UTSMode", "UsernsMode")} == {""}
    assert found["HostConfig"]["IpcMode"] == "private"
    assert not found["HostConfig"]["Devices"]
    (tmp_path / "secret").write_text("secret")
    for path in (f"{tmp_path}/secret", f"/proc/1/root{tmp_path}/secret"):
        assert agent(f"cat {path}").exit_code != 0
    if agent.sandbox._container.root is not None:
        assert "/var/lib/docker" not in agent("cat /proc/mounts /proc/self/mountinfo").output


def test_limits_are_those_of_the_spec(fresh: Any) -> None:
    with fresh(memory_mb=100, disk_mb=28, pids=50, cpus=0.5) as agent:
        limits = inspect(agent)["HostConfig"]
        assert limits["Memory"] == limits["MemorySwap"] <= 128 << 20
        assert 50 <= limits["PidsLimit"] <= 50 + 20
        assert limits["NanoCpus"] == 500_000_000
        assert agent("ulimit -c").output == "0\n"


@pytest.mark.parametrize("path", ["/proc/sys/kernel/core_pattern", "/sys/kernel/mm/ksm/run", "/proc/irq", "/proc/bus"])
def test_kernel_interfaces_are_read_only(agent: Any, path: str) -> None:
    assert agent(f"touch {path}").exit_code != 0
    assert "Read-only file system" in agent(f"touch {path}").output


@pytest.mark.parametrize("path", ["/proc/kcore", "/proc/timer_list", "/proc/keys"])
def test_what_tells_of_the_kernel_is_masked(agent: Any, path: str) -> None:
    assert agent(f"head -c 100 {path} 2>/dev/null").output == ""


def test_another_container_cannot_be_reached(fresh: Any) -> None:
    serve = "python3 -m http.server 8000 --bind 0.0.0.0 >/dev/null 2>&1 &"
    ready = "until (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null; do :; done"
    with fresh() as one, fresh() as two:
        assert one(f"{serve} {ready}").exit_code == 0  # the control: it answers where it is
        addresses = [
            network["IPAddress"] for network in inspect(one)["NetworkSettings"]["Networks"].values()
        ]  # none, where there is no network
        for address in ["127.0.0.1", "sandbox", *filter(None, addresses)]:
            assert two(f"(exec 3<>/dev/tcp/{address}/8000)").exit_code != 0
        assert two("ls /sys/class/net").output == "lo\n"


def test_the_first_process_cannot_be_killed_from_inside(fresh: Any) -> None:
    with fresh() as agent:
        for name in ("KILL", "TERM", "INT", "HUP", "QUIT", "SEGV", "ABRT", "STOP", "CHLD", "USR1"):
            agent(f"kill -{name} 1")
        agent.run(agent.sandbox.reset())
        assert agent.verifier("echo alive").output == "alive\n"


TAKE_OVER = """
import ctypes, os
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
def attack(pid):
    try:
        open(f"/proc/{pid}/mem", "r+b")
        return "written"
    except OSError:
        return "attached" if ptrace(16, pid, 0, 0) == 0 else "refused"
for ids in ((0, 0, 0), (65534, 0, 0), (0, 65534, 0), (65534, 65534, 65534)):
    reader, writer = os.pipe()
    own = os.fork()
    if own == 0:
        os.setresgid(*ids)
        os.setresuid(*ids)
        os.write(writer, f"{attack(1)} {attack(os.getppid()) if ids == (0, 0, 0) else ''}\\n".encode())
        os._exit(0)
    os.waitpid(own, 0)
    print(os.read(reader, 100).decode(), end="")
"""


def test_the_first_process_cannot_be_taken_over(agent: Any) -> None:
    """It alone survives when the agent is stopped: code put into it would see the tests, and the next episode."""
    attack = agent.sandbox.exec(["/usr/bin/python3", "-c", TAKE_OVER], timeout=60)
    first, *others = agent.run(attack).output.splitlines()
    assert first.split() == ["refused", "written"]  # the control: a process of its own can be
    assert [line.strip() for line in others] == ["refused"] * 3


def test_a_console_that_is_stopped_stops_nobody(fresh: Any) -> None:
    stop = """
import glob, os, termios
for path in ["/dev/console", "/dev/tty", *glob.glob("/dev/pts/*"), *glob.glob("/proc/[0-9]*/fd/*")]:
    try:
        termios.tcflow(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK), termios.TCOOFF)
    except (OSError, termios.error):
        pass
"""
    with fresh() as agent:
        agent.run(agent.sandbox.exec(["/usr/bin/python3", "-c", stop], timeout=60))
        agent("exit 3")  # its shell is replaced
        assert agent("echo alive").output == "alive\n"
        agent.run(agent.sandbox.reset())
        shell = agent.run(agent.sandbox.shell())
        assert agent.run(shell.run("echo alive", timeout=60)).output == "alive\n"
