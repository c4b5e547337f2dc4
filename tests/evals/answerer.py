"""A policy of plain code for runner tests: it knows the answers to the built-in problems."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from trainers.policies.base import Completion, Prompt, Sampling


class Answerer:
    """Answers the tasks in `right` correctly and as the student likes it, every other with a bare wrong number.

    Attributes:
        asked: how often each task was asked for.
        most: the largest number of calls at one time.
    """

    version = 0

    def __init__(self, tasks: Sequence[Task], *, right: Sequence[str], fails: Mapping[str, int] | None = None) -> None:
        """
        Args:
            fails: task id -> how many calls fail before one is answered.
        """
        self._tasks, self._right, self._fails = tasks, right, Counter(fails or {})
        self.asked: Counter[str] = Counter()
        self.seeds: list[int | None] = []
        self.running = self.most = 0

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Completion:
        said = str(prompt[-1]["content"])  # type: ignore[index]
        task = next(task for task in self._tasks if task.metadata["question"] in said)
        self.asked[task.id] += 1
        self.seeds.append(sampling.seed)
        self.running += 1
        self.most = max(self.most, self.running)
        for _ in range(3):  # let the other episodes run
            await asyncio.sleep(0)
        self.running -= 1
        if self._fails[task.id]:
            self._fails[task.id] -= 1
            raise InfrastructureError("the engine is gone")
        number = task.metadata["answer"]
        text = f"0 + {number:g} = {number:g}." if task.id in self._right else f"It is {number + 1:g}."
        ids = [len(word) for word in re.findall(r"\w+|\W", text)]
        return Completion([1, 2], ids, [-0.5] * len(ids), [0] * len(ids), "stop", text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        return [-0.5] * len(response_ids)

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError("plain code has no weights")

    async def aclose(self) -> None:
        """Nothing to release."""
