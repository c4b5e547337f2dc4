"""Parts of what a contestant is put through that are the same in every benchmark."""

from collections.abc import Sequence
from typing import Any

from evals.perf.measure import STARTS, Failed, Samples
from evals.perf.process import Process


async def cold_start(process: Process) -> tuple[Samples, dict[str, bool]]:
    """Start the process' first episode, which goes on: `cold`, and whether that started a process."""
    before = await process.ask("memory")
    samples = {"cold": ms((await process.ask("start", n=1))["each"])}
    return samples, {STARTS: (await process.ask("memory"))["processes"] > before["processes"]}


async def starts(process: Process, command: str, *, times: int, budget: float) -> list[float]:
    """Milliseconds of later starts, each episode ended after some steps."""
    took = []
    for _ in range(times):
        took += ms((await process.ask("start", n=1))["each"])
        await process.ask("step", command=command, times=3, budget=budget)
        await process.ask("stop")
    return took


async def resets(process: Process, *, times: int, budget: float) -> list[float]:
    """Milliseconds of resets, back to back, after one that warms up."""
    await process.ask("reset")
    took: list[float] = []
    while not took or (len(took) < times and sum(took) < budget * 1000):
        took += ms((await process.ask("reset"))["each"])
    return took


async def steps(process: Process, command: str, *, times: int, budget: float, characters: int = 0) -> dict[str, Any]:
    """The answer to steps of one kind, after one that warms up.

    Raises:
        Failed: if they give less than all but a hundredth of `characters`.
    """
    await process.ask("step", command=command, times=1, budget=0.0)
    answer = await process.ask("step", command=command, times=times, budget=budget)
    if answer["characters"] < characters * 0.99:
        raise Failed(f"`{command[:20]}…` gave {answer['characters']} of {characters} characters")
    return answer


async def crowd(process: Process, n: int, command: str, *, times: int, budget: float) -> tuple[Samples, dict[str, Any]]:
    """`n` episodes, which go on, after one that warms up: `start_N` and `memory_N`; and the answer to their steps."""
    await starts(process, command, times=1, budget=budget)
    before = await process.ask("memory")
    started = await process.ask("start", n=n)
    await process.ask("step", command=command, times=1, budget=0.0)
    stepped = await process.ask("step", command=command, times=times, budget=budget)
    after = await process.ask("memory")
    samples = {f"start_{n}": [started["seconds"]]}
    if before["bytes"] is not None and after["bytes"] is not None:
        samples[f"memory_{n}"] = [(after["bytes"] - before["bytes"]) / n / 1e6]
    return samples, stepped


async def output(process: Process, command: str) -> str:
    """What one step gives in the last episode, or the beginning of it."""
    answer = await process.ask("step", command=command, times=1, budget=0.0)
    return str(answer["output"]).strip()


def ms(seconds: Sequence[float]) -> list[float]:
    """Milliseconds."""
    return [1000 * each for each in seconds]
