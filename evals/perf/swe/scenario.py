"""What each contestant is put through, one repeat at a time, in a process of its own.

`alone`: one episode at a time. `crowd`: n episodes that start at once, and then n whole ones in their places: reset,
three steps, submission and verdict. The tests of the verdict do nothing, so that all of its time is the way to them and
back. Measured times are the contestant's calls alone; its process and its imports are out of them.
"""

from typing import NamedTuple

from evals.perf import scenes
from evals.perf.measure import Failed, Measure, Samples
from evals.perf.process import SECRET, Process
from evals.perf.swe.subject import begun_at

STATUS = "git status --short"
CHANGE = "sed -i '7s/of 7$/of seven/' package/part_00/module_0007.py && echo new > package/part_00/new.py"
EPISODE = ("git grep -n 'of 7$' | head -3", CHANGE, STATUS)
KEEPS, RESTORES, HIDES = "keeps state between steps", "reset restores the repository", "hides the host's files"
"""Traits, beside `STARTS`."""
ALONE = (
    Measure(name="cold", title="first start", unit="ms"),
    Measure(name="start", title="start", unit="ms"),
    Measure(name="reset", title="reset", unit="ms"),
    Measure(name="status", title="first `git status` after it", unit="ms"),
    Measure(name="step", title="step `true`", unit="ms"),
    Measure(name="patch", title="take the patch", unit="ms"),
    Measure(name="begun", title="submission to the tests' first line", unit="ms"),
    Measure(name="verdict", title="submission to the verdict", unit="ms"),
    Measure(name="end", title="end, until nothing is left", unit="ms"),
)


def crowd_measures(n: int) -> tuple[Measure, ...]:
    """The measures of `crowd`."""
    return (
        Measure(name=f"start_{n}", title=f"{n} at once: start", unit="s"),
        Measure(name=f"memory_{n}", title=f"{n} at once: memory each", unit="MB"),
        Measure(name=f"episodes_{n}", title=f"{n} at once: whole episodes", unit="s"),
    )


class Size(NamedTuple):
    """How much is measured in one repeat."""

    steps: int = 50
    """At most."""
    resets: int = 10
    starts: int = 2
    verdicts: int = 5
    budget: float = 2.0
    """Seconds after which nothing further of a kind is begun."""


SMALL = Size(steps=3, resets=1, starts=1, verdicts=1, budget=0.5)
"""To warm up, or to see that it all runs."""


async def alone(process: Process, size: Size) -> tuple[Samples, dict[str, bool]]:
    """One episode at a time: samples, and what the contestant turned out to do.

    Raises:
        Failed: if a step gives another output than it must.
    """
    samples, traits = await scenes.cold_start(process)
    traits |= await _traits(process)
    await process.ask("stop")
    samples["start"] = await scenes.starts(process, "true", times=size.starts, budget=size.budget)
    await process.ask("start", n=1)
    samples |= await _resets(process, size)
    samples["step"] = scenes.ms((await scenes.steps(process, "true", times=size.steps, budget=size.budget))["each"])
    samples |= await _verdicts(process, size)
    samples["end"] = scenes.ms((await process.ask("call", what="end"))["each"])
    return samples, traits


async def _traits(process: Process) -> dict[str, bool]:
    """What steps and resets do to state, and whether the host's files can be seen."""
    base = await scenes.output(process, "git rev-parse HEAD")
    await scenes.output(process, "git rm -qr package && git -c user.name=a -c user.email=a commit -qm gone; cd /usr")
    keeps = await scenes.output(process, "pwd") == "/usr"
    host = process.directory / SECRET
    hides = "visible" not in await scenes.output(process, f"cat {host} 2>/dev/null; true")
    await process.ask("reset")
    restored = await scenes.output(process, f"git rev-parse HEAD && {STATUS}") == base != ""
    return {KEEPS: keeps, RESTORES: restored, HIDES: hides}


async def _resets(process: Process, size: Size) -> Samples:
    """Resets, back to back but for one `git status`, after one that warms up."""
    await process.ask("reset")
    took: list[float] = []
    status: list[float] = []
    while not took or (len(took) < size.resets and sum(took) < size.budget * 1000):
        took += scenes.ms((await process.ask("reset"))["each"])
        answer = await process.ask("step", command=STATUS, times=1, budget=0.0)
        if answer["output"].strip():
            raise Failed(f"`{STATUS}` after a reset says {answer['output'][:80]!r}")
        status += scenes.ms(answer["each"])
    return {"reset": took, "status": status}


async def _verdicts(process: Process, size: Size) -> Samples:
    """Patches and verdicts, each of a new episode's change."""
    samples: Samples = {"patch": [], "begun": [], "verdict": []}
    took = samples["verdict"]
    while not took or (len(took) < size.verdicts and sum(took) < size.budget * 1000):
        await process.ask("reset")
        await process.ask("step", command=CHANGE, times=1, budget=0.0)
        judged = await process.ask("call", what="verdict")
        ((submitted, patched, log),) = judged["results"]
        took += scenes.ms(judged["each"])
        samples["patch"] += scenes.ms([patched - submitted])
        samples["begun"] += scenes.ms([begun_at(log) - submitted])
    return samples


async def crowd(process: Process, n: int, size: Size) -> tuple[Samples, dict[str, bool]]:
    """`n` episodes at once."""
    samples, _ = await scenes.crowd(process, n, "true", times=size.steps, budget=size.budget)
    whole = await process.ask("whole", commands=EPISODE, last="verdict")
    await process.ask("stop")
    return samples | {f"episodes_{n}": [whole["seconds"]]}, {}
