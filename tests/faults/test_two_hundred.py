"""Two hundred episodes over all built-in terminal tasks, 64 at a time: no wrong verdict, and nothing is left."""

import asyncio
from collections import deque
from typing import Any

import gymnasium as gym

import claw_envs  # noqa: F401 - registers the environments
from claw_envs.core.env import ClawEnv
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from tests.faults.script import block

EPISODES = {"namespace": 200, "docker": 48}
PARALLEL = {"namespace": 64, "docker": 16}
"""Containers take their engine a while; 200 and 64 hold for them too."""


def _actions(task: Task, *, solves: bool) -> list[str]:
    solution = (task.folder() / "solution" / "solve.sh").read_text()
    work = [f"cat > /tmp/solve.sh <<'END_OF_SOLUTION'\n{solution}\nEND_OF_SOLUTION", "bash /tmp/solve.sh"]
    return [block(command) for command in [*(work if solves else ["true"]), "submit"]]


async def _episode(env: ClawEnv, task: Task, *, solves: bool) -> tuple[float, str]:
    await env.areset(options={"task": task.id})
    for action in _actions(task, solves=solves):
        _, reward, terminated, truncated, info = await env.astep(action)
        if terminated or truncated:
            return reward, f"{info['status']} {info.get('error', '')}"
    raise AssertionError("the episode did not end")


def test_many_episodes_have_the_right_verdicts(backend: str) -> None:
    tasks = load_tasks("terminal")
    waiting = deque((tasks[i % len(tasks)], (i // len(tasks) + i) % 2 == 0) for i in range(EPISODES[backend]))
    wrong: list[Any] = []
    counts = {True: 0, False: 0}

    async def worker() -> None:
        made = gym.make("claw/terminal-v0", tasks=tasks, backend=backend)
        env = made.unwrapped
        assert isinstance(env, ClawEnv)
        try:
            while waiting:
                task, solves = waiting.popleft()
                reward, status = await _episode(env, task, solves=solves)
                counts[solves] += 1
                if (reward, status) != (float(solves), "COMPLETED "):
                    wrong.append((task.id, solves, reward, status))
        finally:
            await env.aclose()

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(PARALLEL[backend]):
                group.create_task(worker())

    asyncio.run(main())
    assert not wrong
    assert counts == {True: EPISODES[backend] / 2, False: EPISODES[backend] / 2}
