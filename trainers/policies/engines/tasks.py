"""Calls that are begun together, and calls that must not be left undone."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError


async def together(*calls: Awaitable[Any]) -> list[Any]:
    """The results of calls that wait for each other: the first failure ends all, and is raised once they have ended."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def surely(call: Awaitable[None], timeout: float) -> bool:
    """Carry out `call` even while this task is being cancelled; its own failure is not what the caller reports.

    Args:
        timeout: seconds.

    Returns:
        Whether it succeeded.
    """
    try:
        async with asyncio.timeout(timeout):
            await asyncio.shield(asyncio.ensure_future(call))
    except (InfrastructureError, UserError, TimeoutError):
        return False
    return True
