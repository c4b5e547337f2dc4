"""The judge loop: a bounded queue of finished turns and a few workers that never hold up a step."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from claw_envs.core.episode import Turn
from claw_envs.core.task import Task
from judges.base import Judge
from trainers.meters import BusyMeter


class _Item(NamedTuple):
    turn: Turn
    history: list[Turn]
    task: Task
    done: Callable[[Turn], Awaitable[None]]


class JudgeLoop:
    """Sets `turn.verdict`, then awaits the item's `done`."""

    def __init__(self, judge: Judge, *, workers: int, capacity: int) -> None:
        """
        Args:
            judge: asked once a turn.
            workers: turns judged at once.
            capacity: turns that may wait; more make `submit` wait.
        """
        self.meter = BusyMeter()
        self.judged = 0
        self.failed = 0
        self._judge = judge
        self._workers = workers
        self._queue: asyncio.Queue[_Item] = asyncio.Queue(capacity)

    async def submit(
        self, turn: Turn, history: list[Turn], task: Task, done: Callable[[Turn], Awaitable[None]]
    ) -> None:
        """Queue a turn; `done` is awaited with it once it has its verdict."""
        await self._queue.put(_Item(turn, history, task, done))

    async def run(self) -> None:
        """Judge until cancelled.

        Raises:
            Exception: whatever a judge or a `done` raised: both are bugs or a user's mistakes.
        """
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            item = await self._queue.get()
            with self.meter.busy():
                started = time.perf_counter()
                item.turn.verdict = await self._judge.judge(item.turn, item.history, item.task)
                item.turn.timings["judge"] = time.perf_counter() - started
            self.judged += 1
            self.failed += item.turn.verdict.status == "failed"
            await item.done(item.turn)
