"""Drives prepared calls through the environment step by step, and counts what it finds right: checks the checker."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium as gym

from claw_envs.core.env import Action
from claw_envs.core.task import Task
from claw_envs.toolcall.bfcl.gold import MISTAKES, Turns, gold
from claw_envs.wire import write

_NO_CALL = "There is nothing to call."


class Count(NamedTuple):
    """How many of some answers came out as they should."""

    right: int
    total: int
    others: list[str]
    """Ids of the tasks of the others."""


def replay(env: gym.Env[Any, Any], task_id: str, turns: Turns) -> dict[str, Any]:
    """Play one episode: the calls of each turn in one message, and a message without a call where the turn goes on.

    Returns:
        The `info` of the last step.

    Raises:
        RuntimeError: if the episode was aborted, or did not end with the last message.
    """
    _, info = env.reset(options={"task": task_id})
    messages: list[Action] = []
    for turn in turns:
        messages += [write(turn, "openai")] if turn else []
        if not turn or "multi_turn" in task_id:
            messages.append(_NO_CALL)
    for message in messages:
        if info["status"] != "RUNNING":
            break
        _, _, _, _, info = env.step(message)
    if "report" not in info:
        raise RuntimeError(f"{task_id}: the episode ended without a verdict: {info.get('error', info['status'])}")
    return info


def count_gold(category: str, tasks: Sequence[Task]) -> Count:
    """How many of a category's right answers are found right."""
    return _count(tasks, gold(category, tasks), correct=True)


def count_mistakes(category: str, tasks: Sequence[Task], mistake: str) -> Count:
    """How many of a category's answers with a mistake (see `MISTAKES`) are found wrong, of those that can have it."""
    changed = {task_id: MISTAKES[mistake](turns) for task_id, turns in gold(category, tasks).items() if any(turns)}
    return _count(tasks, changed, correct=False)


def _count(tasks: Sequence[Task], answers: dict[str, Turns], *, correct: bool) -> Count:
    env = gym.make("claw/toolcall-v0", tasks=list(tasks), form="openai")
    try:
        found = {task_id: replay(env, task_id, turns)["report"]["correct"] for task_id, turns in answers.items()}
    finally:
        env.close()
    others = [task_id for task_id, verdict in found.items() if verdict is not correct]
    return Count(len(found) - len(others), len(found), others)
