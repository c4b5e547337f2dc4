"""One way to run a coroutine with a started sandbox, for the fixtures of every back end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox


def runner(backend: str, *, limit: float = 120) -> Callable[..., Any]:
    """`run(body, **spec)`: run `await body(sandbox)` within `limit` seconds; the sandbox is closed afterwards."""

    def run(body: Callable[[Any], Awaitable[Any]], **spec: Any) -> Any:
        async def main() -> Any:
            sandbox = make_sandbox(SandboxSpec(**spec), backend)
            await sandbox.start()
            try:
                async with asyncio.timeout(limit):
                    return await body(sandbox)
            finally:
                await sandbox.close()

        return asyncio.run(main())

    return run
