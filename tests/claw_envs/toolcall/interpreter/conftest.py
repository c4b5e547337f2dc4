"""A fresh interpreter for each test, in a sandbox of each backend that works here, which a module's tests share."""

import asyncio
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import Sandbox
from claw_envs.sandbox.probe import probe
from claw_envs.toolcall.interpreter.session import Interpreter, InterpreterResult

IMAGES = {"namespace": None, "docker": "claw-envs/base:bookworm", "local": None}


class Python:
    """An interpreter whose calls are waited for."""

    def __init__(self, runner: asyncio.Runner, sandbox: Sandbox) -> None:
        self.wait, self.sandbox = runner.run, sandbox
        self.interpreter = Interpreter(sandbox)

    def __call__(self, code: str, *, timeout: float = 60) -> InterpreterResult:
        """Run `code`."""
        return self.wait(self.interpreter.run(code, timeout=timeout))

    def sh(self, script: str) -> str:
        """Output of a shell script in the sandbox."""
        return self.wait(self.sandbox.exec(["/bin/sh", "-c", script], timeout=60)).output


@pytest.fixture(scope="session")
def usable() -> dict[str, Any]:
    return {found.backend: found for found in probe()}


@pytest.fixture(scope="module", params=list(IMAGES))
def home(request: pytest.FixtureRequest, usable: dict[str, Any]) -> Iterator[tuple[asyncio.Runner, Sandbox]]:
    found = usable.get(request.param)
    if found is None or not found.usable:
        pytest.skip(found.detail if found else f"{request.param} is not probed")
    with asyncio.Runner() as runner, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the local sandbox, which isolates nothing
        spec = SandboxSpec(image=IMAGES[request.param], memory_mb=256, output_bytes=10_000)
        sandbox = make_sandbox(spec, request.param)
        runner.run(sandbox.start())
        try:
            yield runner, sandbox
        finally:
            runner.run(sandbox.close())


@pytest.fixture
def python(home: tuple[asyncio.Runner, Sandbox]) -> Iterator[Python]:
    python = Python(*home)
    python.wait(python.interpreter.start())
    yield python
    python.wait(python.interpreter.close())
