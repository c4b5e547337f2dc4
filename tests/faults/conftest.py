"""Every fault test runs for each backend, over small tasks, and leaves nothing behind."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.loop import run_sync
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.probe import probe
from tests.faults import census

DONE = "test -e done; echo $((1 - $?)) > /logs/verifier/reward.txt\n"
"""A verifier that wants the file `done`."""


@pytest.fixture(scope="session")
def usable() -> dict[str, bool | str]:
    """Isolating backends: whether each works here, or why not."""
    return {found.backend: found.usable or found.detail for found in probe() if found.backend != "local"}


@pytest.fixture(params=["namespace", "docker"])
def backend(request: pytest.FixtureRequest, usable: dict[str, bool | str]) -> str:
    """Name of a backend that works here."""
    name: str = request.param
    if usable.get(name) is not True:
        pytest.skip(str(usable.get(name, f"{name} is not probed")))
    return name


@pytest.fixture(scope="session", autouse=True)
def _warm(usable: dict[str, bool | str]) -> None:
    """What a process makes once and keeps is no leak: it is there before the first count."""

    async def start(backend: str) -> None:
        sandbox = make_sandbox(SandboxSpec(), backend)
        await sandbox.start()
        await sandbox.close()

    for backend, works in usable.items():
        if works is True:
            run_sync(start(backend))


@pytest.fixture(autouse=True)
def nothing_leaks(_warm: None) -> Iterator[None]:
    """Counts before and after."""
    before = census.take()
    yield
    assert not census.take().left(before)


@pytest.fixture
def make_tasks(tmp_path: Path) -> Callable[..., str]:
    """`make_tasks({id: test script}, toml=…)`: a folder of tasks."""

    def make(tests: dict[str, str], *, toml: str = "") -> str:
        for name, test in tests.items():
            parts: dict[str, Any] = {
                "task.toml": f"[metadata]\nmax_steps = 8\n{toml}",
                "instruction.md": f"Task {name}: make the file done.\n",
                "environment/Dockerfile": "FROM debian\nWORKDIR /app\n",
                "tests/test.sh": test,
                "solution/solve.sh": "touch done\n",
            }
            for path, text in parts.items():
                file = tmp_path / "set" / name / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        return str(tmp_path / "set")

    return make
