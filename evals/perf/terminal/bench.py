"""Runs the scenarios: who is there, one process a repeat, what came out of it."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec

from evals.perf.measure import Contestant, Failed, Result, Samples, take_turns
from evals.perf.terminal import peers, scenario
from evals.perf.terminal.process import Process, Program, running


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run.

    Attributes:
        python: the peers' interpreter.
        image: of the containers.
        crowds: numbers of episodes at once.
        repeats: of each scenario.
        warm_up: run a round first whose figures are thrown away.
        patience: seconds that one repeat of one contestant may take.
    """

    python: str
    image: str
    crowds: tuple[int, ...]
    repeats: int
    warm_up: bool
    patience: float
    size: scenario.Size


class Bench:
    """One run over `entries`; `results` fills as it goes."""

    def __init__(self, entries: list[peers.Entry], plan: Plan) -> None:
        self._entries = entries
        self._plan = plan
        self._programs: dict[str, Program] = {}
        self.results = {entry.contestant.name: Result() for entry in entries}

    async def run(self) -> None:
        """Measure everything."""
        for entry in self._entries:
            await self._find(entry)
        if self._plan.warm_up:
            await self._stage("warm-up", partial(self._alone, size=scenario.SMALL), repeats=1, keep=False)
        await self._stage("alone", partial(self._alone, size=self._plan.size), repeats=self._plan.repeats)
        for entry in self._entries:
            if not entry.crowd:
                self._programs.pop(entry.contestant.name, None)
        for n in self._plan.crowds:
            await self._stage(f"{n} at once", partial(self._crowd, n=n), repeats=self._plan.repeats)

    async def _find(self, entry: peers.Entry) -> None:
        result = self.results[entry.contestant.name]
        try:
            program = await peers.program(entry, python=self._plan.python, image=self._plan.image)
            async with running(program) as (_, result.versions):
                self._programs[entry.contestant.name] = program
        except Failed as failure:
            _say(f"{entry.contestant.title}: {failure}")
            result.absent = str(failure)

    async def _stage(
        self, stage: str, scene: Callable[[Contestant, Process], Awaitable[Samples]], *, repeats: int, keep: bool = True
    ) -> None:
        contestants = [entry.contestant for entry in self._entries if entry.contestant.name in self._programs]

        async def once(contestant: Contestant) -> Samples:
            _say(f"{stage}: {contestant.title}")
            samples = await self._patiently(contestant, scene)
            return samples if keep else {}

        def failed(contestant: Contestant, failure: Failed) -> None:
            _say(f"{stage}: {contestant.title}: {failure}")
            self.results[contestant.name].failures[stage] = str(failure)
            if failure.final and keep:
                del self._programs[contestant.name]

        await take_turns(contestants, repeats, once, results=self.results, on_failure=failed)

    async def _patiently(
        self, contestant: Contestant, scene: Callable[[Contestant, Process], Awaitable[Samples]]
    ) -> Samples:
        try:
            async with (
                asyncio.timeout(self._plan.patience),
                running(self._programs[contestant.name]) as (process, _),
            ):
                return await scene(contestant, process)
        except TimeoutError as error:
            raise Failed(f"not done within {self._plan.patience:g} s", final=True) from error

    async def _alone(self, contestant: Contestant, process: Process, *, size: scenario.Size) -> Samples:
        samples, traits = await scenario.alone(process, size)
        self.results[contestant.name].traits = traits
        return samples

    async def _crowd(self, contestant: Contestant, process: Process, *, n: int) -> Samples:
        return await scenario.crowd(process, n, self._plan.size)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
