"""An owner that is killed with kill -9, and what it leaves of each backend that needs no engine."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claw_envs.cli import app
from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.namespace.cgroup import all_groups
from claw_envs.sandbox.namespace.state import TTL
from claw_envs.sandbox.prune import Row, listed, prune

_OWNER = """
import asyncio, os, sys, warnings
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox

async def main():
    warnings.simplefilter("ignore")
    sandbox, local = make_sandbox(SandboxSpec()), make_sandbox(SandboxSpec(), "local")
    for each in (sandbox, local):
        await each.start()
        shell = await each.shell()
        await shell.run("(setsid sleep 1000 &)" if each is sandbox else "echo > file", timeout=30)
    print(sandbox._holder.pid, sandbox._state.path, local._directory, flush=True)
    await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


class Owner:
    """A process with one sandbox of each kind."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", _OWNER]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        holder, state, local = self.process.stdout.readline().split()
        self.holder, self.state, self.local = int(holder), Path(state), Path(local)
        self.name = f"{self.state.parent.name}-{self.state.name}"

    def kill(self) -> None:
        """kill -9, and wait until the sandbox's processes are gone too."""
        fd = os.pidfd_open(self.holder)
        self.process.kill()
        self.process.communicate()
        with os.fdopen(fd):
            assert select.select([fd], [], [], 30)[0]


@pytest.fixture
def owner(in_sandbox: Callable[..., Any]) -> Iterator[Owner]:
    """A live owner; it is gone after the test."""
    owner = Owner()
    yield owner
    owner.process.kill()
    owner.process.communicate()
    prune()


def _row(owner: Owner) -> Row:
    (row,) = [row for row in listed() if row.name == owner.name]
    return row


def _run(*args: str) -> str:
    result = CliRunner().invoke(app, args, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_a_live_owner_is_listed_and_spared(owner: Owner) -> None:
    row = _row(owner)
    assert (row.backend, row.owner, row.state) == ("namespace", owner.process.pid, "runs")
    assert 0 <= row.age < 3600
    assert row.processes >= 3  # holder, bash, sleep
    assert owner.name in _run("sandbox", "list")
    assert owner.name not in _run("sandbox", "prune")
    assert owner.state.is_dir()
    assert owner.local.is_dir()
    assert _row(owner).processes == row.processes


def test_nothing_is_left_of_a_killed_owner(owner: Owner) -> None:
    owner.kill()
    left = {(row.backend, row.name): row.state for row in listed() if row.owner == owner.process.pid}
    assert left == {("namespace", owner.name): "dead", ("local", str(owner.local)): "dead"}
    assert f" dead     {owner.name}\n" in _run("sandbox", "list")
    printed = _run("sandbox", "prune")
    assert f"removed namespace {owner.name}" in printed
    assert f"removed local {owner.local}" in printed
    assert not owner.state.parent.exists()
    assert not owner.local.exists()
    assert [group for group in all_groups() if owner.name in group.name] == []
    assert str(owner.state) not in Path("/proc/self/mountinfo").read_text()
    assert owner.name not in _run("sandbox", "prune")
    assert [row for row in listed() if row.owner == owner.process.pid] == []


def test_a_sandbox_that_began_nothing_for_a_day_has_expired(owner: Owner) -> None:
    old = time.time() - TTL - 60
    os.utime(owner.state / "label.json", (old, old))
    assert _row(owner).state == "expired"
    assert f" expired  {owner.name}\n" in _run("sandbox", "list")
    assert f"namespace {owner.name}" in prune()
    assert not owner.state.exists()
    assert owner.local.is_dir()
    assert owner.process.poll() is None


def test_each_episode_renews_a_sandbox(in_sandbox: Callable[..., Any]) -> None:
    async def body(sandbox: NamespaceSandbox) -> None:
        assert sandbox._state is not None
        label = sandbox._state.path / "label.json"
        os.utime(label, (1, 1))
        await sandbox.reset()
        assert time.time() - label.stat().st_mtime < 3600
        os.utime(label, (1, 1))
        prune()
        with pytest.raises(InfrastructureError):
            await sandbox.exec(["true"], timeout=30)

    in_sandbox(body)
