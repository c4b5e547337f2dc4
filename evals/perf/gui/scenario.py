"""What each contestant is put through, one repeat at a time, in a process of its own.

A step is a click on a button, whose page counts it, and what can be seen after it: a screenshot of 1280x720 as an
array, the accessibility tree of 900 controls as text, or both. `alone`: one episode. `crowd`: n episodes that start at
once and step at once. Measured times are the contestant's calls alone; its process and its imports are out of them.
"""

from typing import NamedTuple

from evals.perf import scenes
from evals.perf.gui.subject import TITLE
from evals.perf.measure import Failed, Measure, Samples
from evals.perf.process import Process

CAPTURE = "capture"
"""Of a contestant that can take a bare screenshot: nothing but the browser's answer to `Page.captureScreenshot`."""
SCREENSHOT, AXTREE, BOTH = "screenshot", "axtree", "both"
CHOOSES = "makes only the parts that are asked for"
"""Trait, beside `STARTS`."""
ALONE = (
    Measure(name="cold", title="first start", unit="ms"),
    Measure(name="start", title="start", unit="ms"),
    Measure(name="reset", title="reset", unit="ms"),
    Measure(name=CAPTURE, title="capture alone", unit="ms"),
    Measure(name=SCREENSHOT, title="click + screenshot", unit="ms"),
    Measure(name=AXTREE, title="click + accessibility tree", unit="ms"),
    Measure(name=BOTH, title="click + both", unit="ms"),
)


def crowd_measures(n: int) -> tuple[Measure, ...]:
    """The measures of `crowd`."""
    return (
        Measure(name=f"start_{n}", title=f"{n} at once: start", unit="s"),
        Measure(name=f"steps_{n}", title=f"{n} at once: click + both", unit="steps/s", more_is_better=True),
        Measure(name=f"memory_{n}", title=f"{n} at once: memory of all", unit="MB"),
    )


class Size(NamedTuple):
    """How much is measured in one repeat."""

    steps: int = 30
    """Of a kind, at most."""
    resets: int = 8
    starts: int = 2
    crowd_steps: int = 4
    """Of each episode of a crowd, at most."""
    budget: float = 4.0
    """Seconds after which nothing further of a kind is begun."""


SMALL = Size(steps=3, resets=1, starts=1, crowd_steps=1, budget=0.5)
"""To warm up, or to see that it all runs."""


async def alone(process: Process, size: Size) -> tuple[Samples, dict[str, bool]]:
    """One episode at a time: samples, and what the contestant turned out to do.

    Raises:
        Failed: if a click is not counted.
    """
    samples, traits = await scenes.cold_start(process)
    await _counts(process)
    await process.ask("stop")
    samples["start"] = await scenes.starts(process, BOTH, times=size.starts, budget=size.budget)
    await process.ask("start", n=1)
    samples["reset"] = await scenes.resets(process, times=size.resets, budget=size.budget)
    sizes = {}
    for part in (CAPTURE, SCREENSHOT, AXTREE, BOTH):
        answer = await scenes.steps(process, part, times=size.steps, budget=size.budget)
        said = dict(word.split("=") for word in answer["output"].split() if "=" in word)
        if said:
            samples[part], sizes[part] = scenes.ms(answer["each"]), said
    await process.ask("stop")
    chooses = sizes[SCREENSHOT]["characters"] == "0" and sizes[AXTREE]["pixels"] == "0"
    return samples, traits | {CHOOSES: chooses}


async def _counts(process: Process) -> None:
    """See that steps click, that a reset begins anew, and that the parts are there."""
    first = await scenes.output(process, BOTH)
    second = await scenes.output(process, BOTH)
    await process.ask("reset")
    again = await scenes.output(process, BOTH)
    counted = [text.split(" ")[:2] for text in (first, second, again)]
    if counted != [[TITLE, "1"], [TITLE, "2"], [TITLE, "1"]]:
        raise Failed(f"two clicks, a reset and a click gave {first!r}, {second!r} and {again!r}", final=True)
    if "=0" in first:
        raise Failed(f"a part is missing: {first!r}", final=True)


async def crowd(process: Process, n: int, size: Size) -> tuple[Samples, dict[str, bool]]:
    """`n` episodes at once."""
    samples, stepped = await scenes.crowd(process, n, BOTH, times=size.crowd_steps, budget=2 * size.budget)
    samples[f"steps_{n}"] = [len(stepped["each"]) / stepped["seconds"]]
    if f"memory_{n}" in samples:
        samples[f"memory_{n}"] = [n * each for each in samples[f"memory_{n}"]]
    await process.ask("stop")
    return samples, {}
