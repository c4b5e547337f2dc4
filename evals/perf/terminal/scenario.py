"""What each contestant is put through, one repeat at a time, in a process of its own.

`alone`: one episode, then eight that sleep. `crowd`: n episodes that start at once and step at once. Measured times are
the contestant's calls alone; its process, its imports and its first, cold call are out of it unless a measure says so.
"""

from typing import NamedTuple

from evals.perf import scenes
from evals.perf.measure import Measure, Samples
from evals.perf.process import SECRET, Process

_LINE = "0123456789" * 7 + "012345678"
BIG = 1_000_000
BIG_COMMAND = f"yes {_LINE} | head -c {BIG}"
SLEEPERS = 8
KEEPS, RESTORES, HIDES = "keeps state between steps", "reset restores files", "hides the host's files"
"""Traits, beside `STARTS`."""
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
    samples, traits = await scenes.cold_start(process)
    traits |= await _traits(process)
    await process.ask("stop")
    samples["start"] = await scenes.starts(process, ":", times=size.starts, budget=size.budget)
    await process.ask("start", n=1)
    samples["reset"] = await scenes.resets(process, times=size.resets, budget=size.budget)
    for name, command, characters in (("builtin", ":", 0), ("program", "/bin/true", 0), ("big", BIG_COMMAND, BIG)):
        answer = await scenes.steps(process, command, times=size.steps, budget=size.budget, characters=characters)
        samples[name] = scenes.ms(answer["each"])
    await process.ask("start", n=SLEEPERS - 1)
    samples["sleep"] = [(await process.ask("step", command="sleep 0.5", times=1, budget=0.0))["seconds"]]
    await process.ask("stop")
    return samples, traits


async def _traits(process: Process) -> dict[str, bool]:
    """What steps and resets do to state, and whether the host's files can be seen."""
    await scenes.output(process, "echo made > claw-perf-made; cd /usr")
    keeps = await scenes.output(process, "pwd") == "/usr"
    host = process.directory / SECRET
    hides = "visible" not in await scenes.output(process, f"cat {host} 2>/dev/null; true")
    await process.ask("reset")
    kept = await scenes.output(process, "cat claw-perf-made 2>/dev/null; true")
    await scenes.output(process, "rm -f claw-perf-made")
    return {KEEPS: keeps, RESTORES: "made" not in kept, HIDES: hides}


async def crowd(process: Process, n: int, size: Size) -> tuple[Samples, dict[str, bool]]:
    """`n` episodes at once."""
    samples, stepped = await scenes.crowd(process, n, ":", times=size.crowd_steps, budget=2 * size.budget)
    await process.ask("stop")
    return samples | {f"rate_{n}": [len(stepped["each"]) / stepped["seconds"]]}, {}
