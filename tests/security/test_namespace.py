"""What only the namespace backend promises: the host's system is read-only, the verifier's programs stay its own."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

import claw_envs
from claw_envs.sandbox.namespace import base_root
from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.namespace.cgroup import remove_left
from claw_envs.sandbox.namespace.host import identity


@pytest.fixture(scope="module", params=["namespace"])
def backend(request: pytest.FixtureRequest, usable: Any) -> str:
    """This one alone."""
    return usable(request.param)


@pytest.mark.parametrize(
    "place", ["/home", "/root", "/tmp", "/run", "/var/run", "/opt", "/srv", "/mnt", "/media", "/sys"]
)
def test_host_directories_are_empty(agent: Any, place: str) -> None:
    files = agent(f"find {place}/ -type f 2>/dev/null").output
    assert files in ("", "/tmp/value\n")


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


def test_no_capabilities_and_no_new_privileges(agent: Any) -> None:
    status = dict(line.split(":\t") for line in agent("cat /proc/self/status").output.splitlines())
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert agent("id -u").output == "1000\n"


def test_nothing_else_is_writable(fresh: Any) -> None:
    with fresh() as agent:
        for place in ("/dev", "/usr", "/usr/bin", "/bin", "/etc", "/etc/ssl", "/proc", "/dev/pts", "/proc/self"):
            assert agent(f"touch {place}/x").exit_code != 0, place


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

    def states() -> list[Path]:
        return list(state_root().glob(f"{os.getpid()}-*/s[0-9]*"))

    before = len(os.listdir("/proc/self/fd")), len(states())
    asyncio.run(main())
    assert (len(os.listdir("/proc/self/fd")), len(states())) <= before
