"""Every attack runs for each backend: in one started sandbox where it leaves that usable, else in one of its own."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import ExecResult, Sandbox
from claw_envs.sandbox.probe import probe

IMAGES: dict[str, str | None] = {"namespace": None, "docker": "claw-envs/base:bookworm"}
"""What each backend's sandboxes run: the host's own system, or the base image."""


class Attacker:
    """Runs scripts as the agent, each in the shell of one sandbox."""

    def __init__(self, runner: asyncio.Runner, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.run = runner.run
        self._shell = runner.run(sandbox.shell())

    def __call__(self, script: str, *, timeout: float = 60.0) -> ExecResult:
        """Run `script` as the agent would."""
        return self.run(self._shell.run(script, timeout=timeout))

    def verifier(self, script: str) -> ExecResult:
        """Run `script` as the verifier would."""
        return self.run(self.sandbox.exec(["/bin/sh", "-c", script], timeout=60, user="verifier"))


@contextlib.contextmanager
def attacker(backend: str, **spec: Any) -> Iterator[Attacker]:
    """An attacker in a sandbox of its own."""
    with asyncio.Runner() as runner:
        sandbox = make_sandbox(SandboxSpec(**{"image": IMAGES[backend]} | spec), backend)
        runner.run(sandbox.start())
        try:
            yield Attacker(runner, sandbox)
        finally:
            runner.run(sandbox.close())


@pytest.fixture(scope="session")
def usable() -> Callable[[str], str]:
    """`usable(backend)`: the same name; skips where that backend does not work here."""
    probed = {found.backend: found for found in probe()}

    def check(backend: str) -> str:
        found = probed.get(backend)
        if found is None or not found.usable:
            pytest.skip(found.detail if found else f"{backend} is not probed")
        return backend

    return check


@pytest.fixture(scope="module", params=list(IMAGES))
def backend(request: pytest.FixtureRequest, usable: Callable[[str], str]) -> str:
    """Name of a backend that works here."""
    return usable(request.param)


@pytest.fixture(scope="module")
def agent(backend: str) -> Iterator[Attacker]:
    """An agent in a sandbox that the tests of a module share."""
    with attacker(backend) as found:
        yield found


@pytest.fixture
def fresh(backend: str) -> Callable[..., contextlib.AbstractContextManager[Attacker]]:
    """`with fresh(**spec) as agent`: an agent in a sandbox of its own."""

    def start(**spec: Any) -> contextlib.AbstractContextManager[Attacker]:
        return attacker(backend, **spec)

    return start
