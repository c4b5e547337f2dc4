"""One started sandbox for attacks that leave it usable, and a fresh one for those that do not."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import ExecResult, Sandbox
from claw_envs.sandbox.probe import probe


class Attacker:
    """Runs scripts as the agent, each in the shell of one sandbox."""

    def __init__(self, runner: asyncio.Runner, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.run = runner.run
        self._shell = runner.run(sandbox.shell())

    def __call__(self, script: str, *, timeout: float = 60.0) -> ExecResult:
        """Run `script` as the agent would."""
        return self.run(self._shell.run(script, timeout=timeout))


@contextlib.contextmanager
def attacker(**spec: Any) -> Iterator[Attacker]:
    """An attacker in a sandbox of its own."""
    with asyncio.Runner() as runner:
        sandbox = make_sandbox(SandboxSpec(**spec))
        runner.run(sandbox.start())
        try:
            yield Attacker(runner, sandbox)
        finally:
            runner.run(sandbox.close())


@pytest.fixture(scope="session", autouse=True)
def _usable() -> None:
    namespace = probe()[0]
    if not namespace.usable:
        pytest.skip(namespace.detail)


@pytest.fixture(scope="module")
def agent(_usable: None) -> Iterator[Attacker]:
    """An agent in a sandbox that the tests of a module share."""
    with attacker() as found:
        yield found


@pytest.fixture
def fresh(_usable: None) -> Callable[..., contextlib.AbstractContextManager[Attacker]]:
    """`with fresh(**spec) as agent`: an agent in a sandbox of its own."""
    return attacker
