"""The persistent shell is tested over both of its links: descriptors of a child, and the exec of a container."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import Sandbox
from claw_envs.sandbox.probe import Probe, probe


@pytest.fixture(scope="session")
def probed() -> dict[str, Probe]:
    """What works here, by backend."""
    return {found.backend: found for found in probe()}


@pytest.fixture(params=["namespace", "docker"])
def in_sandbox(request: pytest.FixtureRequest, probed: dict[str, Probe]) -> Callable[..., Any]:
    """`in_sandbox(body, **spec)`: run `await body(sandbox)` with a started sandbox, which is closed afterwards."""
    backend = probed[request.param]
    if not backend.usable:
        pytest.skip(backend.detail)

    def run(body: Callable[[Sandbox], Awaitable[Any]], **spec: Any) -> Any:
        async def main() -> Any:
            sandbox = make_sandbox(SandboxSpec(**spec), backend.backend)
            await sandbox.start()
            try:
                async with asyncio.timeout(120):
                    return await body(sandbox)
            finally:
                await sandbox.close()

        return asyncio.run(main())

    return run
