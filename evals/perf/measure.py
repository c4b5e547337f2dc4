"""What a benchmark of speed is made of: measures, contestants, repeats that go round, and medians.

Contestants take turns: one repeat of the first, one of the second, and so on, and each round begins with another one,
so that a slow minute of the machine hits all of them alike. Nothing else runs meanwhile. Every repeat is kept.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import median

import msgspec

Samples = dict[str, list[float]]
"""Measure -> what one repeat measured, in the measure's unit."""
STARTS = "start starts a process"
"""Trait. Who starts nothing has the cheapest starts and resets there can be, and pays with each step."""


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """A quantity.

    Attributes:
        name: key in reports.
        title: for people.
        unit: of the values.
        more_is_better: as for a rate.
    """

    name: str
    title: str
    unit: str
    more_is_better: bool = False


class Contestant(msgspec.Struct, frozen=True, kw_only=True):
    """Who is measured.

    Attributes:
        name: key in reports.
        title: for people.
        ours: whether it is this project's.
        baseline: a floor to compare with; nobody has to be ahead of it.
    """

    name: str
    title: str
    ours: bool = False
    baseline: bool = False


class Result(msgspec.Struct, kw_only=True):
    """What was measured of one contestant.

    Attributes:
        repeats: measure -> a list for each repeat.
        failures: stage -> why a repeat of it gave nothing; the last reason.
        traits: what it does, as measured and not as claimed.
        versions: of its packages.
        absent: why it was not measured at all.
    """

    repeats: dict[str, list[list[float]]] = {}
    failures: dict[str, str] = {}
    traits: dict[str, bool] = {}
    versions: dict[str, str] = {}
    absent: str | None = None

    def add(self, samples: Samples) -> None:
        """Keep one repeat."""
        for name, values in samples.items():
            self.repeats.setdefault(name, []).append(values)

    def median(self, measure: str) -> float | None:
        """Median of the repeats' medians; None where nothing was measured."""
        repeats = self.repeats.get(measure)
        return median(median(values) for values in repeats) if repeats else None


class Failed(Exception):  # noqa: N818 - an outcome that is reported, not a fault of ours
    """A contestant gave no figure; the message says why.

    Attributes:
        final: whether to leave it out from now on, as where it takes too long.
    """

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


async def take_turns(
    contestants: Sequence[Contestant],
    repeats: int,
    run: Callable[[Contestant], Awaitable[Samples]],
    *,
    results: Mapping[str, Result],
    on_failure: Callable[[Contestant, Failed], object],
) -> None:
    """Run one repeat of each contestant, `repeats` times, and put what they give into `results`."""
    left = list(contestants)
    for number in range(repeats):
        shift = number % max(1, len(left))
        for contestant in [*left[shift:], *left[:shift]]:
            try:
                results[contestant.name].add(await run(contestant))
            except Failed as failure:
                on_failure(contestant, failure)
                if failure.final:
                    left.remove(contestant)
