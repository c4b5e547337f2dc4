"""The machine runs out of descriptors, or of room for state. That is never the agent's doing, and leaks nothing."""

import asyncio
import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import Sandbox
from claw_envs.sandbox.namespace import state as namespace_state
from tests.faults import census


@contextlib.contextmanager
def _descriptors(more: int) -> Iterator[None]:
    """At most so `many` descriptors beyond those that are open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def _use(sandbox: Sandbox) -> str:
    await sandbox.start()
    shell = await sandbox.shell()
    await shell.run("true", timeout=30)
    await sandbox.exec(["true"], timeout=30)
    await sandbox.put("f", b"data")
    assert await sandbox.get("f") == b"data"
    await sandbox.reset()
    return "fine"


def test_without_descriptors_nothing_is_the_agents_fault(backend: str) -> None:
    async def main() -> None:
        for more in range(-2, 44, 3):
            sandbox = make_sandbox(SandboxSpec(), backend)
            try:
                with _descriptors(more):
                    outcomes.append(await _use(sandbox))
            except InfrastructureError as error:
                outcomes.append(str(error))
            await sandbox.close()
            open_now.append(census.descriptors())

    outcomes: list[str] = []
    open_now: list[tuple[str, ...]] = []
    asyncio.run(main())
    assert "fine" in outcomes  # the controls: it can work, and it can fail
    assert any("too many open files" in outcome.lower() for outcome in outcomes), outcomes
    assert len(open_now[-1]) == len(open_now[0])


def test_without_room_for_state_no_sandbox_can_be_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        sandbox = make_sandbox(SandboxSpec(), "namespace")
        with pytest.raises(InfrastructureError, match="No space left on device"):
            await sandbox.start()

    full = Path("/dev/full")  # writes fail there; directories cannot be made below
    (tmp_path / "root").mkdir()
    monkeypatch.setattr(namespace_state, "state_root", lambda: tmp_path / "root")
    real = Path.mkdir

    def mkdir(self: Path, *arguments: object, **kwargs: object) -> None:
        if self.is_relative_to(tmp_path / "root"):
            full.write_text("x")
        real(self, *arguments, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "mkdir", mkdir)
    asyncio.run(main())
