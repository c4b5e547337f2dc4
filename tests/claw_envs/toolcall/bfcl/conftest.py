"""The real package in its own environment, and a way to play a task step by step."""

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import pytest

import claw_envs  # noqa: F401 - registers the environments
from claw_envs.core.errors import UserError
from claw_envs.toolcall.bfcl.environment import interpreter

from .sample import task

Open = Callable[..., gym.Env[Any, Any]]


@pytest.fixture(scope="session")
def checker() -> None:
    """Skips where `bfcl-eval` is neither installed nor can be."""
    try:
        interpreter()
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture
def open_task(checker: None) -> Iterator[Open]:
    """`open_task(task_id, **arguments)` -> an environment that was reset to that task, and is closed afterwards."""
    opened = []

    def make(task_id: str, **arguments: Any) -> gym.Env[Any, Any]:
        env = gym.make("claw/toolcall-v0", tasks=[task(task_id)], **{"form": "openai"} | arguments)
        opened.append(env)
        return env

    yield make
    for env in opened:
        env.close()
