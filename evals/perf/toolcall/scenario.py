"""What each contestant is put through, one repeat at a time, in a process of its own.

`alone`: one episode. `crowd`: n episodes that start at once and call at once; then one of them runs a loop that never
ends, to its time limit, while the others go on calling now and then. Measured times are the contestant's calls alone;
its process, its imports and its first, cold call are out of it unless a measure says so.
"""

from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from evals.perf import scenes
from evals.perf.measure import Failed, Measure, Samples
from evals.perf.process import SECRET, Process

LIMIT = 2.0
"""Seconds that a call may take."""
PAUSE = 0.5
"""Seconds between two calls of an episode while another one hangs, so that the calls do not wait for each other."""
CALL = "print(6 * 7)"
SAYS = "42"
HANG = "while True: pass"
BIG = 100_000
BIG_CALL = f"print(('0123456789' * 9 + '012345678\\n') * {BIG // 100}, end='')"
WORK = "from fractions import Fraction\nprint(sum(Fraction(1, n) for n in range(1, 660)).numerator % 1000)"
"""A millisecond of exact arithmetic."""
_OFFLINE = "print('online' if any(line.split()[0] != 'lo' for line in [*open('/proc/net/route')][1:]) else 'offline')"
"""A system without a network has no route that leads out of it."""
_CONNECTED = len(Path("/proc/net/route").read_text().splitlines()) > 1
KEEPS, HIDES, OFFLINE, FREE, KILLS, GOES_ON = (
    "keeps state between calls",
    "hides the host's files",
    "has no network",
    "a call that hangs holds up no other",
    "it is dead after its time limit",
    "and the next call is answered",
)
"""Traits, beside `STARTS`."""
ALONE = (
    Measure(name="cold", title="cold start", unit="ms"),
    Measure(name="start", title="start", unit="ms"),
    Measure(name="reset", title="reset", unit="ms"),
    Measure(name="call", title="call `6 * 7`", unit="ms"),
    Measure(name="call_p95", title="call `6 * 7`, p95", unit="ms"),
    Measure(name="state", title="call with state", unit="ms"),
    Measure(name="work", title="call, 1 ms of work", unit="ms"),
    Measure(name="big", title="call, 100 KB output", unit="ms"),
)


def crowd_measures(n: int) -> tuple[Measure, ...]:
    """The measures of `crowd`."""
    return (
        Measure(name=f"start_{n}", title=f"{n} at once: start", unit="s"),
        Measure(name=f"call_{n}", title=f"{n} at once: call", unit="ms"),
        Measure(name=f"memory_{n}", title=f"{n} at once: memory each", unit="MB"),
        Measure(name=f"calm_{n}", title=f"{n - 1} now and then: call", unit="ms"),
        Measure(name=f"beside_{n}", title="the same beside one that hangs", unit="ms"),
        Measure(name=f"slowdown_{n}", title="ratio of the two", unit="times"),
        Measure(name="hung", title=f"stop at {LIMIT:g} s", unit="s"),
    )


class Size(NamedTuple):
    """How much is measured in one repeat."""

    calls: int = 100
    """Calls of a kind, at most."""
    resets: int = 10
    starts: int = 3
    budget: float = 0.5
    """Seconds after which no further call or reset of a kind is begun."""
    crowd_calls: int = 20
    """Calls of each episode of a crowd, at most."""


SMALL = Size(calls=5, resets=2, starts=1, budget=0.4, crowd_calls=3)
"""To warm up, or to see that it all runs."""


async def alone(process: Process, size: Size) -> tuple[Samples, dict[str, bool]]:
    """One episode at a time: samples, and what the contestant turned out to do.

    Raises:
        Failed: if a call gives another output than it must.
    """
    samples, traits = await scenes.cold_start(process)
    traits |= await _traits(process)
    await process.ask("stop")
    samples["start"] = await scenes.starts(process, CALL, times=size.starts, budget=size.budget)
    await process.ask("start", n=1)
    samples["reset"] = await scenes.resets(process, times=size.resets, budget=size.budget)
    samples["call"] = await _calls(process, CALL, size, says=SAYS)
    if len(samples["call"]) > 1:
        samples["call_p95"] = [quantiles(samples["call"], n=20, method="inclusive")[-1]]
    if traits[KEEPS]:
        await scenes.output(process, "x = 41")
        samples["state"] = await _calls(process, "print(x + 1)", size, says=SAYS)
    samples["work"] = await _calls(process, WORK, size)
    samples["big"] = await _calls(process, BIG_CALL, size, characters=BIG)
    await process.ask("stop")
    return samples, traits


async def _traits(process: Process) -> dict[str, bool]:
    """What becomes of variables between calls, and what of the host can be seen."""
    await scenes.output(process, "x = 41")
    keeps = SAYS in await scenes.output(process, "print(x + 1)")
    host = process.directory / SECRET
    traits = {KEEPS: keeps, HIDES: "visible" not in await scenes.output(process, f"print(open({str(host)!r}).read())")}
    if _CONNECTED:
        traits[OFFLINE] = "online" not in await scenes.output(process, _OFFLINE)
    return traits


async def _calls(process: Process, code: str, size: Size, *, says: str = "", characters: int = 0) -> list[float]:
    """Milliseconds of calls of one kind, after one that warms up."""
    answer = await scenes.steps(process, code, times=size.calls, budget=size.budget, characters=characters)
    _check(answer, code, says)
    return scenes.ms(answer["each"])


def _check(answer: dict[str, Any], code: str, says: str) -> None:
    if says not in answer["output"]:
        raise Failed(f"`{code}` gave {answer['output'][:80]!r}")


async def crowd(process: Process, n: int, size: Size) -> tuple[Samples, dict[str, bool]]:
    """`n` episodes at once.

    Raises:
        Failed: if a call gives another output than it must.
    """
    await process.ask("adopt")
    samples, called = await scenes.crowd(process, n, CALL, times=size.crowd_calls, budget=3 * size.budget)
    _check(called, CALL, SAYS)
    samples[f"call_{n}"] = [median(scenes.ms(called["each"]))]
    hung, traits = await _hang(process, n)
    await process.ask("stop")
    return samples | hung, traits


async def _hang(process: Process, n: int) -> tuple[Samples, dict[str, bool]]:
    """The calls of all but one, without and with a call that hangs in that one, where that has an end."""
    now_and_then = {"command": CALL, "pause": PAUSE, "budget": 0.75 * LIMIT}
    calm = await process.ask("beside", hanging=None, **now_and_then)
    beside = await process.ask("beside", hanging=HANG, **now_and_then)
    samples = {f"calm_{n}": [median(scenes.ms(calm["each"]))]}
    if beside["hung"] is None:
        return samples, {}
    busy = await process.ask("busy", seconds=0.5)
    answered = SAYS in await scenes.output(process, CALL)  # of the last episode, the one that hung
    samples[f"beside_{n}"] = [median(scenes.ms(beside["each"]))]
    samples[f"slowdown_{n}"] = [samples[f"beside_{n}"][0] / samples[f"calm_{n}"][0]]
    samples["hung"] = [beside["hung"]]
    return samples, {FREE: beside["free"], KILLS: not busy["processes"], GOES_ON: answered}
