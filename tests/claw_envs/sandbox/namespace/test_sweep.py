import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.namespace.cgroup import all_groups
from claw_envs.sandbox.namespace.host import state_root
from claw_envs.sandbox.namespace.sweep import sweep
from claw_envs.sandbox.process.child import start_time

_OWNER = """
import asyncio, os, sys
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.namespace.backend import NamespaceSandbox

async def main():
    sandbox = NamespaceSandbox(SandboxSpec())
    await sandbox.start()
    shell = await sandbox.shell()
    await shell.run("sleep 1234 & (setsid sleep 1234 &)", timeout=30)
    if "fork" in sys.argv and os.fork() == 0:
        os.read(0, 1)
        os._exit(0)
    print(sandbox._holder.pid, sandbox._state.path, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def _start_owner(*arguments: str) -> tuple[subprocess.Popen[str], int, Path]:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    holder, path = owner.stdout.readline().split()
    return owner, int(holder), Path(path)


def _wait_for_death(pid: int) -> bool:
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(fd):
        return bool(select.select([fd], [], [], 30)[0])


def _inside(holder: int) -> list[int]:
    """Host pids of all processes in the sandbox's pid namespace."""
    namespace = os.readlink(f"/proc/{holder}/ns/pid")
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/ns/pid") == namespace:
                found.append(int(name))
        except OSError:
            continue
    return found


def test_a_killed_owner_takes_every_process_with_it_and_the_sweep_takes_the_rest() -> None:
    owner, holder, path = _start_owner()
    processes = _inside(holder)
    assert len(processes) >= 5
    owner.kill()
    owner.wait()
    assert all(_wait_for_death(pid) for pid in processes)
    assert path.is_dir()
    name = f"{path.parent.name}-{path.name}"
    assert name in sweep()
    assert not path.parent.exists()
    assert not [group for group in all_groups() if group.name == f"claw-envs-{name}"]
    mounts = Path("/proc/self/mounts").read_text()
    assert str(path) not in mounts


def test_a_forked_child_of_the_owner_does_not_keep_the_sandbox_alive() -> None:
    owner, holder, _ = _start_owner("fork")
    processes = _inside(holder)
    owner.kill()
    owner.wait()
    assert all(_wait_for_death(pid) for pid in processes)
    assert owner.stdin is not None
    owner.stdin.close()
    sweep()


def test_the_sweep_kills_a_holder_that_its_owner_left(tmp_path: Path) -> None:
    holder = subprocess.Popen(["sleep", "1000"])
    dead = subprocess.Popen(["true"])
    dead.wait()
    state = state_root() / f"{dead.pid}-1" / "s0"
    state.mkdir(parents=True)
    (state / "label.json").write_text(
        f'{{"holder_pid": {holder.pid}, "holder_start": {start_time(holder.pid)}, "groups": []}}'
    )
    assert f"{dead.pid}-1-s0" in sweep()
    assert holder.wait(timeout=30) == -9
    assert not state.parent.exists()


def test_the_sweep_spares_a_process_that_only_has_the_holders_pid() -> None:
    innocent = subprocess.Popen(["sleep", "1000"])
    dead = subprocess.Popen(["true"])
    dead.wait()
    state = state_root() / f"{dead.pid}-1" / "s0"
    state.mkdir(parents=True)
    label = f'{{"holder_pid": {innocent.pid}, "holder_start": 3, "groups": []}}'
    (state / "label.json").write_text(label)
    sweep()
    assert innocent.poll() is None
    innocent.kill()
    innocent.wait()


def test_a_live_owner_is_never_touched(in_sandbox: Callable[..., Any]) -> None:
    owner, holder, path = _start_owner()

    async def body(sandbox: NamespaceSandbox) -> str:
        assert not [name for name in sweep() if name.startswith((f"{os.getpid()}-", f"{owner.pid}-"))]
        return (await sandbox.exec(["echo", "alive"], timeout=30)).output

    assert in_sandbox(body) == "alive\n"
    assert path.is_dir()
    assert start_time(holder) is not None
    owner.kill()
    owner.wait()
    assert _wait_for_death(holder)
    sweep()


def test_state_without_a_readable_owner_lives_for_its_ttl() -> None:
    stray = state_root() / "stray"
    stray.mkdir(exist_ok=True)
    sweep()
    assert stray.is_dir()
    old = time.time() - 1e7
    os.utime(stray, (old, old))
    sweep()
    assert not stray.exists()
