"""The judge loop: bounded, concurrent, and loud about bugs."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from claw_envs.core.episode import Turn, Verdict
from claw_envs.core.task import Task, VerifierSpec
from trainers.judging import JudgeLoop

TASK = Task(id="t", family="chat", instruction="Two plus three?", verifier=VerifierSpec(kind="simulator"))


class Holding:
    """Judges once it is let; keeps what it was asked."""

    def __init__(self, *, status: str = "ok") -> None:
        self.go, self.asked = asyncio.Event(), list[tuple[Turn, Sequence[Turn], Task]]()
        self.verdict = Verdict(score=1.0) if status == "ok" else Verdict(status="failed")

    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        self.asked.append((turn, history, task))
        await self.go.wait()
        return self.verdict


class Broken:
    async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
        raise KeyError("a bug in the judge")


def turn(step: int = 0) -> Turn:
    return Turn(episode_id="e", step=step, messages=[], response="5", timings={})


async def settle() -> None:
    """Let every task go as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


def scenario(run: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await run()

    asyncio.run(bounded())


def test_the_verdict_and_its_time_are_set_before_done_is_called() -> None:
    async def run() -> None:
        judge, seen = Holding(), list[tuple[Verdict | None, bool]]()
        finished = asyncio.Event()

        async def done(judged: Turn) -> None:
            seen.append((judged.verdict, judged.timings["judge"] >= 0))
            finished.set()

        loop = JudgeLoop(judge, workers=1, capacity=1)
        running = asyncio.create_task(loop.run())
        first, second = turn(0), turn(1)
        await loop.submit(second, [first], TASK, done)
        judge.go.set()
        await finished.wait()
        assert seen == [(Verdict(score=1.0), True)]
        assert judge.asked == [(second, [first], TASK)]
        assert (loop.judged, loop.failed) == (1, 0)
        assert loop.meter.seconds > 0
        running.cancel()

    scenario(run)


def test_failed_verdicts_are_counted() -> None:
    async def run() -> None:
        judge, finished = Holding(status="failed"), asyncio.Event()
        judge.go.set()

        async def done(judged: Turn) -> None:
            finished.set()

        loop = JudgeLoop(judge, workers=1, capacity=1)
        running = asyncio.create_task(loop.run())
        await loop.submit(turn(), [], TASK, done)
        await finished.wait()
        assert (loop.judged, loop.failed) == (1, 1)
        running.cancel()

    scenario(run)


def test_as_many_at_once_as_there_are_workers_and_a_full_queue_makes_submit_wait() -> None:
    async def run() -> None:
        judge, judged = Holding(), list[int]()

        async def done(turn: Turn) -> None:
            judged.append(turn.step)

        loop = JudgeLoop(judge, workers=2, capacity=3)
        running = asyncio.create_task(loop.run())
        submits = [asyncio.create_task(loop.submit(turn(i), [], TASK, done)) for i in range(7)]
        await settle()
        assert len(judge.asked) == 2
        assert [submit.done() for submit in submits] == [True] * 5 + [False] * 2
        judge.go.set()
        await asyncio.gather(*submits)
        await settle()
        assert sorted(judged) == list(range(7))
        running.cancel()

    scenario(run)


def test_a_bug_in_a_judge_ends_the_loop() -> None:
    async def run() -> None:
        async def done(judged: Turn) -> None:
            raise AssertionError("there is no verdict")

        loop = JudgeLoop(Broken(), workers=3, capacity=1)
        running = asyncio.create_task(loop.run())
        await loop.submit(turn(), [], TASK, done)
        with pytest.raises(ExceptionGroup) as caught:
            await running
        assert caught.group_contains(KeyError, match="a bug in the judge")

    scenario(run)


def test_a_bug_in_done_ends_the_loop() -> None:
    async def run() -> None:
        async def done(judged: Turn) -> None:
            raise OSError("the store is full")

        judge = Holding()
        judge.go.set()
        loop = JudgeLoop(judge, workers=1, capacity=1)
        running = asyncio.create_task(loop.run())
        await loop.submit(turn(), [], TASK, done)
        with pytest.raises(ExceptionGroup) as caught:
            await running
        assert caught.group_contains(OSError, match="the store is full")

    scenario(run)
