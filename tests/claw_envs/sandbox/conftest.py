"""A started namespace sandbox and its shell for coroutines under test; skipped where this machine cannot have one."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.probe import probe

Body = Callable[[NamespaceSandbox], Awaitable[Any]]


@pytest.fixture(scope="session")
def _usable() -> None:
    namespace = probe()[0]
    if not namespace.usable:
        pytest.skip(namespace.detail)


@pytest.fixture
def in_sandbox(_usable: None) -> Callable[..., Any]:
    """`in_sandbox(body, **spec)`: run `await body(sandbox)` with a started sandbox, which is closed afterwards."""

    def run(body: Body, **spec: Any) -> Any:
        async def main() -> Any:
            sandbox = NamespaceSandbox(SandboxSpec(**spec))
            await sandbox.start()
            try:
                async with asyncio.timeout(120):
                    return await body(sandbox)
            finally:
                await sandbox.close()

        return asyncio.run(main())

    return run
