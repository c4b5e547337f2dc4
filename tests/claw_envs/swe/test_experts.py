"""A whole episode by a scripted expert for every built-in task: it sees what it should, and resolves the issue.

An expert was not shown the gold patch. Between them they use every way to act.
"""

import asyncio
import importlib
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
MUTATIONS = Path(__file__).parents[3] / "tasks" / "swe" / "mutations"


def expert(task_id: str) -> list[Step]:
    steps: list[Step] = importlib.import_module(f"{__package__}.experts.{task_id.replace('-', '_')}").STEPS
    return steps


def half(task_id: str) -> list[Step]:
    """An agent that mends a part of it."""
    patch = (MUTATIONS / task_id / "half.patch").read_text()
    return [(bash("", f"git apply - <<'EOF'\n{patch}EOF"), "[exit 0 | /testbed]"), (SUBMIT, "")]


@pytest.fixture(params=["namespace", "docker"])
def backend(request: pytest.FixtureRequest) -> str:
    found = next(found for found in probe() if found.backend == request.param)
    if not found.usable:
        pytest.skip(found.detail)
    return str(request.param)


async def play(task_id: str, steps: list[Step], backend: str) -> tuple[float, dict[str, Any]]:
    """The reward and info of the last step; each observation must hold what its step says."""
    made: Any = gym.make("claw/swe-v0", tasks=TASKS, backend=backend)
    env: ClawEnv = made.unwrapped
    try:
        await env.areset(seed=0, options={"task": task_id})
        for message, shows in steps[:-1]:
            observation, _, terminated, truncated, _ = await env.astep(message)
            assert shows in observation["text"], f"{message}\n{observation['text']}"
            assert not terminated
            assert not truncated
        _, reward, terminated, _, info = await env.astep(steps[-1][0])
        assert terminated
        return reward, info
    finally:
        await env.aclose()


@pytest.mark.parametrize("task_id", IDS)
def test_the_expert_resolves_the_issue(task_id: str) -> None:
    reward, info = asyncio.run(play(task_id, expert(task_id), "namespace"))
    assert (reward, info["report"]["status"], info["status"]) == (1.0, "resolved", "COMPLETED"), info["report"]["log"]
    assert info["report"]["pass_to_pass"]["failure"] == info["report"]["flaky"] == []


def test_sixteen_at_a_time_get_the_same_verdicts(backend: str) -> None:
    """The experts', and that on half a fix for the rest."""
    plans = [(task_id, expert(task_id), 1.0) for task_id in IDS]
    plans += [(task_id, half(task_id), -1.0) for task_id in IDS[: 16 - len(IDS)]]

    async def all_of_them() -> list[float]:
        ends = await asyncio.gather(*(play(task_id, steps, backend) for task_id, steps, _ in plans))
        return [reward for reward, _ in ends]

    assert len(plans) == 16
    assert asyncio.run(all_of_them()) == [reward for *_, reward in plans]


def test_between_them_experts_use_every_form() -> None:
    messages = [message for task_id in IDS for message, _ in expert(task_id)]
    assert any(isinstance(message, dict) for message in messages)
    assert any("<tool_call>" in message for message in messages)
    assert any("```bash" in message for message in messages)
    assert all(name in str(messages) for name in ("view_file", "edit_file", "write_file", "submit"))
    assert all(6 <= len(expert(task_id)) <= 9 for task_id in IDS)


def test_every_expert_sees_the_fault_before_it_mends_it() -> None:
    assert [task_id for task_id in IDS if not any(shows for _, shows in expert(task_id)[:4])] == []
