"""Drives one contestant: takes requests as JSON lines on stdin, answers each with how long the contestant's calls took.

Run as `python -P serve.py SCRIPT KIND SETTINGS` by the interpreter that has the contestant; SCRIPT defines
`make(kind, settings) -> Contestant` and PACKAGES. Only the awaited call lies between two readings of the monotonic
clock. A contestant of coroutines runs on one event loop; one of plain functions gets a thread an episode.

`memory` is the proportional set size (`Pss` of `/proc/PID/smaps_rollup`: pages that are shared count by share) of this
process, all that descends from it, and all processes that name one of its containers in their control group or command
line: the container's own and its shim. Not counted: what the kernel keeps (namespaces, files in a tmpfs) and the
container engine itself. `busy` looks at the same processes. Standard library only.
"""

import asyncio
import ctypes
import inspect
import json
import os
import re
import runpy
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

_MOST_THREADS = 256
_SHOWN = 200
"""Characters of an answer that go back to the harness."""
_HEAD_START = 0.1
"""Seconds that a call which hangs gets before the others begin."""
_LOOKS = 10
"""Who wants the processor each time that one looks is computing, however little it gets."""
_PR_SET_CHILD_SUBREAPER = 36


class Contestant(Protocol):
    """Something that runs an agent's commands. The methods are all coroutines or all plain functions.

    What keeps more than its episodes has a coroutine `close` too. What has no time limit for a step says
    `limited = False`. Some benchmarks `call` further methods of an episode.
    """

    def start(self) -> Any:
        """A new episode, ready for its first step."""

    def step(self, episode: Any, command: str) -> Any:
        """Run `command` in the episode; its output."""

    def reset(self, episode: Any) -> Any:
        """The episode to go on with: as new, ready for its first step."""

    def stop(self, episode: Any) -> Any:
        """End the episode."""

    def containers(self) -> list[str]:
        """Full ids of the containers that are there for the episodes; not timed."""


class Pace(NamedTuple):
    """When the steps of one episode are taken."""

    times: int
    """At most."""
    deadline: float
    """No step but the first is begun after it, on the clock of `time.perf_counter`."""
    pause: float = 0.0
    """Seconds between two."""
    delay: float = 0.0
    """Seconds before the first."""

    def more(self, done: int) -> bool:
        """Whether another step is due."""
        return not done or (done < self.times and time.perf_counter() + self.pause < self.deadline)


class Timed:
    """Calls the contestant, from coroutines or from threads, and takes the time."""

    def __init__(self, contestant: Contestant) -> None:
        self.contestant = contestant
        self._threads = None if inspect.iscoroutinefunction(contestant.step) else ThreadPoolExecutor(_MOST_THREADS)

    async def call(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
        """Result and seconds of one call."""
        results = await self.series(function, arguments, Pace(1, 0.0))
        return results[0]

    async def series(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], pace: Pace
    ) -> list[tuple[Any, float]]:
        """Results and seconds of calls in a row, at least one."""
        if pace.delay:
            await asyncio.sleep(pace.delay)
        if self._threads is not None:
            return await asyncio.get_running_loop().run_in_executor(self._threads, _series, function, arguments, pace)
        results: list[tuple[Any, float]] = []
        while pace.more(len(results)):
            if results and pace.pause:
                await asyncio.sleep(pace.pause)
            begun = time.perf_counter()
            result = await function(*arguments)
            results.append((result, time.perf_counter() - begun))
        return results


def _series(function: Callable[..., Any], arguments: tuple[Any, ...], pace: Pace) -> list[tuple[Any, float]]:
    results: list[tuple[Any, float]] = []
    while pace.more(len(results)):
        if results and pace.pause:
            time.sleep(pace.pause)
        begun = time.perf_counter()
        result = function(*arguments)
        results.append((result, time.perf_counter() - begun))
    return results


class Server:
    """The requests. Each works on all open episodes at once; `seconds` is wall-clock, `each` has the single calls."""

    def __init__(self, contestant: Contestant) -> None:
        self._contestant = contestant
        self._timed = Timed(contestant)
        self._episodes: list[Any] = []

    async def start(self, *, n: int) -> dict[str, Any]:
        """Start `n` episodes at once."""
        begun = time.perf_counter()
        started = await asyncio.gather(*(self._timed.call(self._contestant.start) for _ in range(n)))
        seconds = time.perf_counter() - begun
        self._episodes += [episode for episode, _ in started]
        return {"seconds": seconds, "each": [took for _, took in started]}

    async def step(self, *, command: str, times: int, budget: float) -> dict[str, Any]:
        """Run `command` up to `times` times in each episode, none begun once `budget` seconds have passed."""
        begun = time.perf_counter()
        pace = Pace(times, begun + budget)
        series = [self._timed.series(self._contestant.step, (episode, command), pace) for episode in self._episodes]
        results = [result for each in await asyncio.gather(*series) for result in each]
        seconds = time.perf_counter() - begun
        output = str(results[-1][0])
        each = [took for _, took in results]
        return {"seconds": seconds, "each": each, "output": output[:_SHOWN], "characters": len(output)}

    async def beside(self, *, command: str, hanging: str | None, budget: float, pause: float) -> dict[str, Any]:
        """Run `command` in all episodes but the last, for `budget` seconds and every `pause` seconds in each.

        Args:
            hanging: what the last episode runs meanwhile, nothing where None or where there is no limit to it.

        Returns:
            `each` has the steps of the others. Of the step that hangs `hung` has the seconds, null where none was
            taken, and `free` says whether one of the others was through with all its steps before it ended.
        """
        *others, last = self._episodes
        hung = None
        if hanging is not None and getattr(self._contestant, "limited", True):
            hung = asyncio.ensure_future(self._timed.call(self._contestant.step, last, hanging))
            await asyncio.sleep(_HEAD_START)
        deadline = time.perf_counter() + budget
        tasks = []
        for number, episode in enumerate(others):
            pace = Pace(sys.maxsize, deadline, pause=pause, delay=pause * number / len(others))
            series = self._timed.series(self._contestant.step, (episode, command), pace)
            tasks.append(asyncio.ensure_future(series))
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        free = hung is not None and not hung.done()
        each = [took for task in tasks for _, took in await task]
        return {"each": each, "free": free, "hung": (await hung)[1] if hung else None}

    async def reset(self) -> dict[str, Any]:
        """Reset every episode."""
        reset = await asyncio.gather(*(self._timed.call(self._contestant.reset, each) for each in self._episodes))
        self._episodes = [episode for episode, _ in reset]
        return {"each": [took for _, took in reset]}

    async def call(self, *, what: str) -> dict[str, Any]:
        """Call the contestant's method `what` of every episode; `results` has what it gave, nothing without one."""
        method = getattr(self._contestant, what, None)
        called = await asyncio.gather(*(self._timed.call(method, each) for each in self._episodes if method))
        return {"each": [took for _, took in called], "results": [result for result, _ in called]}

    async def whole(self, *, commands: list[str], last: str) -> dict[str, Any]:
        """A whole episode in place of each open one: reset, steps, and the method `last`, which `results` is from."""

        async def one(episode: Any) -> tuple[Any, Any]:
            episode, _ = await self._timed.call(self._contestant.reset, episode)
            for command in commands:
                await self._timed.call(self._contestant.step, episode, command)
            result, _ = await self._timed.call(getattr(self._contestant, last), episode)
            return episode, result

        begun = time.perf_counter()
        done = await asyncio.gather(*map(one, self._episodes))
        seconds = time.perf_counter() - begun
        self._episodes = [episode for episode, _ in done]
        return {"seconds": seconds, "results": [result for _, result in done]}

    async def stop(self) -> dict[str, Any]:
        """End every episode."""
        episodes, self._episodes = self._episodes, []
        stopped = await asyncio.gather(*(self._timed.call(self._contestant.stop, each) for each in episodes))
        return {"each": [took for _, took in stopped]}

    async def close(self) -> None:
        """End every episode, and what there is beside."""
        await self.stop()
        if close := getattr(self._contestant, "close", None):
            await close()

    async def memory(self) -> dict[str, Any]:
        """Bytes, see the module, null where this user may not read them all; and the number of processes."""
        size, processes = pss(self._contestant.containers())
        return {"bytes": size, "processes": processes}

    async def adopt(self) -> dict[str, Any]:
        """From now on what outlives its parent becomes a child of this process, where `busy` finds it."""
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
        return {}

    async def busy(self, *, seconds: float) -> dict[str, Any]:
        """How many processes, of those that `memory` looks at but this one, compute for so long without a rest."""
        containers = self._contestant.containers()
        computing = family(containers) - {os.getpid()}
        for _ in range(_LOOKS):
            computing = {pid for pid in computing if _stat(pid)[0] == "R"}
            await asyncio.sleep(seconds / _LOOKS)
        return {"processes": len(computing & family(containers))}


def pss(containers: list[str]) -> tuple[int | None, int]:
    """Proportional set size in bytes of this process, its descendants and `containers`, and how many these are."""
    ours = family(containers)
    try:
        return sum(map(_pss, ours)), len(ours)
    except PermissionError:
        return None, len(ours)


def family(containers: list[str]) -> set[int]:
    """This process, its descendants, and the processes of `containers`."""
    pattern = re.compile("|".join(containers).encode()) if containers else None
    parents: dict[int, int] = {}
    ours = {os.getpid()}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            parents[int(entry.name)] = int(_stat(int(entry.name))[1])
            if pattern and pattern.search((entry / "cgroup").read_bytes() + (entry / "cmdline").read_bytes()):
                ours.add(int(entry.name))
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return ours


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` from the state on, which the parent follows; of one that has ended `X` and 0."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return ["X", "0"]


def _pss(pid: int) -> int:
    with suppress(FileNotFoundError, ProcessLookupError):
        found = re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
        return 1024 * int(found[1]) if found else 0
    return 0


def versions(packages: list[str]) -> dict[str, str]:
    """Installed versions."""
    return {name: metadata.version(name) for name in packages}


async def main(script: str, kind: str, settings: dict[str, Any], *, asked: int, answers: int) -> None:
    """Say that the contestant is ready (or is not installed), then answer requests until they end."""
    try:
        defined = runpy.run_path(script)
        server = Server(defined["make"](kind, settings))
        hello: dict[str, Any] = {"versions": versions(defined["PACKAGES"])}
    except ModuleNotFoundError as error:
        os.write(answers, json.dumps({"missing": str(error)}).encode() + b"\n")
        return
    os.write(answers, json.dumps(hello).encode() + b"\n")
    requests = asyncio.StreamReader()
    pipe = os.fdopen(asked, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(requests), pipe)
    while line := await requests.readline():
        request = json.loads(line)
        answer = await getattr(server, request.pop("do"))(**request)
        os.write(answers, json.dumps(answer).encode() + b"\n")
    await server.close()


def _say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The traceback, and in its last line what the harness shows: where the error says nothing, what caused it."""
    sys.__excepthook__(kind, error, trace)
    while not str(error) and error.__cause__ is not None:
        error = error.__cause__
    print(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}", file=sys.stderr)


if __name__ == "__main__":
    sys.excepthook = _say
    asked, answers = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what a command reads is no request
    os.dup2(2, 1)  # what a contestant prints is no answer
    asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), asked=asked, answers=answers))
