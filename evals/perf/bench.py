"""Puts contestants through scenes: who is there, one process a repeat, what came out of it."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from evals.perf.entries import Entry
from evals.perf.measure import Contestant, Failed, Result, Samples, take_turns
from evals.perf.process import Process, Program, running

Traits = dict[str, bool]
"""What a contestant turned out to do."""
Scene = Callable[[Process], Awaitable[tuple[Samples, Traits]]]
"""What one repeat puts a contestant's process through."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run; a benchmark adds its own.

    Attributes:
        repeats: of each scene.
        warm_up: run a round first whose figures are thrown away.
        patience: seconds that one repeat of one contestant may take.
    """

    repeats: int
    warm_up: bool
    patience: float


class Bench:
    """One run over `entries`; `results` fills as it goes."""

    def __init__(
        self, entries: Sequence[Entry], *, programs: Callable[[Entry], Awaitable[list[Program]]], patience: float
    ) -> None:
        """
        Args:
            programs: how an entry may be run; the first way for which it is installed is taken.
            patience: seconds that one repeat of one contestant may take.
        """
        self._entries = entries
        self._programs_of = programs
        self._patience = patience
        self._programs: dict[str, Program] = {}
        self.results = {entry.contestant.name: Result() for entry in entries}

    async def find(self) -> None:
        """See who can be run; the others are out, with the reason."""
        for entry in self._entries:
            result = self.results[entry.contestant.name]
            try:
                program, result.versions = await self._installed(await self._programs_of(entry))
                self._programs[entry.contestant.name] = program
            except Failed as failure:
                _say(f"{entry.contestant.title}: {failure}")
                result.absent = str(failure)

    async def _installed(self, programs: Sequence[Program]) -> tuple[Program, dict[str, str]]:
        reasons = []
        for program in programs:
            try:
                async with running(program) as (_, versions):
                    return program, versions
            except Failed as failure:
                reasons.append(str(failure))
        raise Failed("; ".join(dict.fromkeys(reasons)), final=True)

    async def run(
        self,
        alone: Scene,
        crowds: Mapping[int, Scene],
        *,
        plan: Plan,
        small: Scene,
        among: Sequence[Entry] | None = None,
    ) -> dict[str, Result]:
        """See who is there, warm up, and put everybody through `alone` and then through each crowd.

        Args:
            crowds: number of episodes at once -> the scene.
            small: the scene that warms up.
            among: only these entries are in crowds.
        """
        await self.find()
        if plan.warm_up:
            await self.stage("warm-up", small, repeats=1, keep=False)
        await self.stage("alone", alone, repeats=plan.repeats)
        for n, crowd in crowds.items():
            await self.stage(f"{n} at once", crowd, repeats=plan.repeats, among=among)
        return self.results

    async def stage(
        self, stage: str, scene: Scene, *, repeats: int, keep: bool = True, among: Sequence[Entry] | None = None
    ) -> None:
        """Put everybody through `scene`, `repeats` times.

        Args:
            keep: whether figures count.
            among: only these entries.
        """
        names = {entry.contestant.name for entry in (self._entries if among is None else among)}
        contestants = [
            entry.contestant for entry in self._entries if entry.contestant.name in names & self._programs.keys()
        ]

        async def once(contestant: Contestant) -> Samples:
            _say(f"{stage}: {contestant.title}")
            samples, traits = await self._patiently(contestant, scene)
            self.results[contestant.name].traits.update(traits)
            return samples if keep else {}

        def failed(contestant: Contestant, failure: Failed) -> None:
            _say(f"{stage}: {contestant.title}: {failure}")
            self.results[contestant.name].failures[stage] = str(failure)
            if failure.final and keep:
                del self._programs[contestant.name]

        await take_turns(contestants, repeats, once, results=self.results, on_failure=failed)

    async def _patiently(self, contestant: Contestant, scene: Scene) -> tuple[Samples, Traits]:
        try:
            async with asyncio.timeout(self._patience), running(self._programs[contestant.name]) as (process, _):
                return await scene(process)
        except TimeoutError as error:
            raise Failed(f"not done within {self._patience:g} s", final=True) from error


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
