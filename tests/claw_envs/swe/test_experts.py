"""A whole episode by a scripted expert for every built-in task: it sees what it should, and resolves the issue.

An expert was not shown the gold patch. Between them they use every way to act.
"""

import asyncio
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from claw_envs.core.env import ClawEnv
from claw_envs.sandbox.probe import probe
from claw_envs.swe.loader import load

from .experts.forms import SUBMIT, Step, bash

TASKS = load()
IDS = [task.id for task in TASKS]
HALF = Path(__file__).parents[3] / "tasks" / "swe" / "mutations"


def expert(task_id: str) -> list[Step]:
    steps: list[Step] = importlib.import_module(f"{__package__}.experts.{task_id.replace('-', '_')}").STEPS
    return steps


def half(task_id: str) -> list[Step]:
    """An agent that mends a part of it."""
    patch = (HALF / task_id / "half.patch").read_text()
    return [(bash("", f"git apply - <<'EOF'\n{patch}EOF"), "[exit 0 | /testbed]"), (SUBMIT, "")]


@pytest.fixture(scope="module", params=["namespace", "docker"])
def backend(request: pytest.FixtureRequest) -> str:
    found = next(found for found in probe() if found.backend == request.param)
    if not found.usable:
        pytest.skip(found.detail)
    return str(request.param)


@pytest.fixture(scope="module")
def env(backend: str) -> Iterator[ClawEnv]:
    made: Any = gym.make("claw/swe-v0", tasks=TASKS, backend=backend)
    yield made.unwrapped
    made.close()


async def play(env: ClawEnv, task_id: str, steps: list[Step]) -> tuple[float, dict[str, Any]]:
    """The reward and info of the last step; each observation must hold what its step says."""
    await env.areset(seed=0, options={"task": task_id})
    reward, info, ended = 0.0, {}, False
    for message, shows in steps:
        assert not ended
        observation, reward, terminated, truncated, info = await env.astep(message)
        assert shows in observation["text"], f"{message}\n{observation['text']}"
        ended = terminated or truncated
    assert ended
    return reward, info


@pytest.mark.parametrize("task_id", IDS)
def test_the_expert_resolves_the_issue(env: ClawEnv, task_id: str) -> None:
    async def episode() -> tuple[float, dict[str, Any]]:
        try:
            return await play(env, task_id, expert(task_id))
        finally:
            await env.aclose()

    reward, info = asyncio.run(episode())
    assert (reward, info["report"]["status"], info["status"]) == (1.0, "resolved", "COMPLETED"), info["report"]["log"]
    assert info["report"]["pass_to_pass"]["failure"] == info["report"]["flaky"] == []


def test_sixteen_at_a_time_get_the_same_verdicts(backend: str) -> None:
    """The experts', and that on half a fix for the rest."""
    halves = IDS[: 16 - len(IDS)]
    plans = [(task_id, expert(task_id), "resolved") for task_id in IDS]
    plans += [(task_id, half(task_id), "unresolved") for task_id in halves]

    async def episode(task_id: str, steps: list[Step]) -> str:
        made: Any = gym.make("claw/swe-v0", tasks=TASKS, backend=backend)
        try:
            _, info = await play(made.unwrapped, task_id, steps)
        finally:
            await made.unwrapped.aclose()
        return str(info["report"]["status"])

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(episode(task_id, steps) for task_id, steps, _ in plans))

    assert len(plans) == 16
    assert asyncio.run(all_of_them()) == [verdict for *_, verdict in plans]


def test_between_them_experts_use_every_form() -> None:
    messages = [message for task_id in IDS for message, _ in expert(task_id)]
    assert any(isinstance(message, dict) for message in messages)
    assert any("<tool_call>" in message for message in messages)
    assert any("```bash" in message for message in messages)
    named = str(messages)
    assert all(name in named for name in ("view_file", "edit_file", "write_file"))
    assert all(6 <= len(expert(task_id)) <= 9 for task_id in IDS)
    assert all(any(shows for _, shows in expert(task_id)[:5]) for task_id in IDS)
