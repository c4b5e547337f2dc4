"""What each contestant is put through, one repeat at a time, in a process of its own.

`alone`: one episode, then eight that sleep. `crowd`: n episodes that start at once and step at once. Measured times are
the contestant's calls alone; its process, its imports and its first, cold call are out of it unless a measure says so.
"""

from typing import Any, NamedTuple

from evals.perf.measure import Failed, Measure, Samples
from evals.perf.terminal.process import SECRET, Process

_LINE = "0123456789" * 7 + "012345678"
BIG = 1_000_000
BIG_COMMAND = f"yes {_LINE} | head -c {BIG}"
SLEEPERS = 8
STARTS, KEEPS, RESTORES, HIDES = (
    "start starts a process", "keeps state between steps", "reset restores files", "hides the host's files"
)  # fmt: skip
"""Traits."""
ALONE = (
    Measure(name="cold", title="cold start", unit="ms"),
    Measure(name="start", title="start", unit="ms"),
    Measure(name="reset", title="reset", unit="ms"),
    Measure(name="builtin", title="step `:`", unit="ms"),
    Measure(name="program", title="step `/bin/true`", unit="ms"),
    Measure(name="big", title="step, 1 MB output", unit="ms"),
    Measure(name="sleep", title=f"{SLEEPERS} × `sleep 0.5`", unit="s"),
)


def crowd_measures(n: int) -> tuple[Measure, ...]:
    """The measures of `crowd`."""
    return (
        Measure(name=f"start_{n}", title=f"{n} at once: start", unit="s"),
        Measure(name=f"rate_{n}", title=f"{n} at once: steps", unit="1/s", more_is_better=True),
        Measure(name=f"memory_{n}", title=f"{n} at once: memory each", unit="MB"),
    )


class Size(NamedTuple):
    """How much is measured in one repeat."""

    steps: int = 100
    """Steps of a kind, at most."""
    resets: int = 20
    starts: int = 3
    budget: float = 2.0
    """Seconds after which no further step or reset of a kind is begun."""
    crowd_steps: int = 20
    """Steps of each episode of a crowd, at most."""


SMALL = Size(steps=5, resets=2, starts=1, budget=0.5, crowd_steps=3)
"""To warm up, or to see that it all runs."""


async def alone(process: Process, size: Size) -> tuple[Samples, dict[str, bool]]:
    """One episode at a time: samples, and what the contestant turned out to do.

    Raises:
        Failed: if a step gives another output than it must.
    """
    samples: Samples = {}
    before = await process.ask("memory")
    samples["cold"] = _ms((await process.ask("start", n=1))["each"])
    started = (await process.ask("memory"))["processes"] > before["processes"]
    traits = {STARTS: started} | await _traits(process)
    await process.ask("stop")
    samples["start"] = []
    for _ in range(size.starts):
        samples["start"] += _ms((await process.ask("start", n=1))["each"])
        await process.ask("step", command=":", times=3, budget=size.budget)
        await process.ask("stop")
    await process.ask("start", n=1)
    samples["reset"] = await _resets(process, size)
    for name, command, characters in (("builtin", ":", 0), ("program", "/bin/true", 0), ("big", BIG_COMMAND, BIG)):
        await process.ask("step", command=command, times=1, budget=size.budget)
        answer = await process.ask("step", command=command, times=size.steps, budget=size.budget)
        if answer["characters"] < characters * 0.99:
            raise Failed(f"`{command[:20]}…` gave {answer['characters']} of {characters} characters")
        samples[name] = _ms(answer["each"])
    await process.ask("start", n=SLEEPERS - 1)
    samples["sleep"] = [(await process.ask("step", command="sleep 0.5", times=1, budget=0.0))["seconds"]]
    await process.ask("stop")
    return samples, traits


async def _resets(process: Process, size: Size) -> list[float]:
    """Back to back, after one that warms up."""
    await process.ask("reset")
    took: list[float] = []
    while not took or (len(took) < size.resets and sum(took) < size.budget * 1000):
        took += _ms((await process.ask("reset"))["each"])
    return took


async def _traits(process: Process) -> dict[str, bool]:
    """What steps and resets do to state, and whether the host's files can be seen."""
    await _output(process, "echo made > claw-perf-made; cd /usr")
    keeps = await _output(process, "pwd") == "/usr"
    host = process.directory / SECRET
    hides = "visible" not in await _output(process, f"cat {host} 2>/dev/null; true")
    await process.ask("reset")
    kept = await _output(process, "cat claw-perf-made 2>/dev/null; true")
    await _output(process, "rm -f claw-perf-made")
    return {KEEPS: keeps, RESTORES: "made" not in kept, HIDES: hides}


async def _output(process: Process, command: str) -> str:
    answer = await process.ask("step", command=command, times=1, budget=0.0)
    return str(answer["output"]).strip()


async def crowd(process: Process, n: int, size: Size) -> Samples:
    """`n` episodes at once, after one that warms up."""
    await process.ask("start", n=1)
    await process.ask("step", command=":", times=3, budget=size.budget)
    await process.ask("stop")
    before = await process.ask("memory")
    started = await process.ask("start", n=n)
    await process.ask("step", command=":", times=1, budget=0.0)
    stepped = await process.ask("step", command=":", times=size.crowd_steps, budget=2 * size.budget)
    after = await process.ask("memory")
    await process.ask("stop")
    samples = {f"start_{n}": [started["seconds"]], f"rate_{n}": [len(stepped["each"]) / stepped["seconds"]]}
    if before["bytes"] is not None and after["bytes"] is not None:
        samples[f"memory_{n}"] = [(after["bytes"] - before["bytes"]) / n / 1e6]
    return samples


def _ms(seconds: list[Any]) -> list[float]:
    return [1000 * each for each in seconds]
