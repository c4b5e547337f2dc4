"""Five hundred episodes in browsers, eight at a time: every verdict as it must be, memory flat, nothing left."""

import asyncio
from collections import deque
from typing import Any

import gymnasium as gym
import pytest

import claw_envs  # noqa: F401 - registers the environments
from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import UserError
from claw_envs.core.loop import run_sync
from claw_envs.core.tasksets import load_tasks
from claw_envs.gui.browser.engine import driver
from claw_envs.gui.browser.executable import find_chromium
from claw_envs.gui.browser.pool import shared_pool
from evals.perf.serve import pss

EPISODES, PARALLEL = 500, 8
SETTLED = 150
"""Episodes after which caches are full."""
LEAST = 100e6
"""Bytes that a browser takes in any case."""
MORE = 1.25
"""How many times as much memory there may be at the end."""


@pytest.fixture(scope="module", autouse=True)
def _driven() -> None:
    """What a process keeps, Playwright's driver, is there before the first count."""
    try:
        find_chromium()
        run_sync(driver())
    except UserError as error:
        pytest.skip(str(error))


def _calls(*names: str) -> str:
    return "\n".join(f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>' for name in names)


async def _episode(env: ClawEnv, task: str, seed: int) -> tuple[str, float, str]:
    """Look, and give up."""
    await env.areset(seed=seed, options={"task": task})
    await env.astep(_calls("new_tab", "back", "close_tab"))
    _, reward, _, _, info = await env.astep(_calls("fail"))
    return info["status"], reward, info.get("report", {}).get("ending", info.get("error"))


def test_many_episodes_in_browsers_leave_memory_as_it_was() -> None:
    tasks = load_tasks("gui")
    feasible = {task.id: task.metadata["feasible"] for task in tasks}
    waiting = deque((tasks[number % len(tasks)].id, number) for number in range(EPISODES))
    wrong: list[Any] = []
    sizes: list[int] = []

    async def worker() -> None:
        env = gym.make("claw/gui-v0", tasks=tasks, size=(800, 600)).unwrapped
        assert isinstance(env, ClawEnv)
        try:
            while waiting:
                task, number = waiting.popleft()
                ended = await _episode(env, task, number)
                if ended != ("COMPLETED", -1.0 if feasible[task] else 1.0, "fail"):
                    wrong.append((task, *ended))
                if number in (SETTLED, EPISODES - 1):
                    sizes.append(pss([])[0] or 0)
        finally:
            await env.aclose()

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(PARALLEL):
                group.create_task(worker())

    try:
        asyncio.run(main())
    finally:
        run_sync(shared_pool().close())
    assert not wrong
    before, after = sizes
    assert LEAST < after <= MORE * before
