import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.docker.engine import Engine, NotThereError
from claw_envs.sandbox.docker.labels import EXPIRES, OWNER, abandoned, labels, machine
from claw_envs.sandbox.docker.sweep import sweep
from claw_envs.sandbox.process.child import children
from claw_envs.sandbox.prune import listed

_OWNER = """
import asyncio, sys
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.docker.backend import DockerSandbox

async def main():
    sandbox = DockerSandbox(SandboxSpec())
    await sandbox.start()
    shell = await sandbox.shell()
    await shell.run("sleep 1234 & (setsid sleep 1234 &)", timeout=30)
    print(sandbox._container.id, flush=True)
    if "leave" not in sys.argv:
        await asyncio.Event().wait()

asyncio.run(main())
"""


def _start_owner(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    owner = subprocess.Popen([sys.executable, "-c", _OWNER, *arguments], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    return owner, owner.stdout.readline().strip()


def test_what_a_killed_owner_left_is_swept_and_what_a_live_one_has_is_not(engine: Engine) -> None:
    dead, lost = _start_owner()
    alive, kept = _start_owner()
    try:
        dead.send_signal(signal.SIGKILL)
        dead.communicate()
        states = {row.owner: row.state for row in listed() if row.backend == "docker"}
        assert (states[dead.pid], states[alive.pid]) == ("dead", "runs")
        removed = sweep(engine)
        assert lost in removed
        assert kept not in removed
        with pytest.raises(NotThereError):
            engine.explained(engine.api.inspect_container, lost)
        assert engine.explained(engine.api.inspect_container, kept)["State"]["Running"]
        assert lost not in sweep(engine)
    finally:
        alive.send_signal(signal.SIGKILL)
        alive.communicate()
        sweep(engine)
    with pytest.raises(NotThereError):
        engine.explained(engine.api.inspect_container, kept)


def test_an_owner_that_ends_without_closing_removes_what_it_holds(engine: Engine) -> None:
    owner, name = _start_owner("leave")
    assert name.startswith("claw-envs-")
    owner.communicate(timeout=60)
    with pytest.raises(InfrastructureError):
        engine.explained(engine.api.inspect_container, name)


def test_the_helper_dies_with_its_owner(engine: Engine, swaps: None) -> None:
    owner, _ = _start_owner()
    watched = [os.pidfd_open(pid) for pid in children(owner.pid)]
    assert watched
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    for fd in watched:
        with os.fdopen(fd):
            assert select.select([fd], [], [], 30)[0]
    sweep(engine)


def test_who_counts_as_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = labels()
    assert not abandoned(mine)
    assert not abandoned(mine | {EXPIRES: "1"})
    assert abandoned(mine | {OWNER: f"{machine()}:{os.getpid()}-1"})
    elsewhere = {OWNER: "elsewhere:1-1", EXPIRES: str(int(time.time()) + 1000)}
    assert not abandoned(elsewhere)
    assert abandoned(elsewhere | {EXPIRES: "1000"})
    assert abandoned({OWNER: "garbage"})


def test_a_machine_is_told_from_others_that_share_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    name: Callable[[], str] = machine.__wrapped__
    assert name() == name()
    here = name()
    monkeypatch.setattr("socket.gethostname", lambda: "another")
    assert name() != here
