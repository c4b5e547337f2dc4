"""Drives one contestant: takes requests as JSON lines on stdin, answers each with how long the contestant's calls took.

Run as `python -P serve.py SCRIPT KIND SETTINGS` by the interpreter that has the contestant; SCRIPT defines
`make(kind, settings) -> Contestant` and PACKAGES. Only the awaited call lies between two readings of the monotonic
clock. A contestant of coroutines runs on one event loop; one of plain functions gets a thread an episode.

`memory` is the proportional set size (`Pss` of `/proc/PID/smaps_rollup`: pages that are shared count by share) of this
process, all that descends from it, and all processes that name one of its containers in their control group or command
line: the container's own and its shim. Not counted: what the kernel keeps (namespaces, files in a tmpfs) and the
container engine itself. Standard library only.
"""

import asyncio
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
from typing import Any, Protocol

_MOST_THREADS = 256
_SHOWN = 200
"""Characters of an answer that go back to the harness."""


class Contestant(Protocol):
    """Something that runs an agent's commands. The methods are all coroutines or all plain functions.

    What keeps more than its episodes has a coroutine `close` too.
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


class Timed:
    """Calls the contestant, from coroutines or from threads, and takes the time."""

    def __init__(self, contestant: Contestant) -> None:
        self.contestant = contestant
        self._threads = None if inspect.iscoroutinefunction(contestant.step) else ThreadPoolExecutor(_MOST_THREADS)

    async def call(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
        """Result and seconds of one call."""
        results = await self.series(function, arguments, times=1, deadline=0.0)
        return results[0]

    async def series(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], *, times: int, deadline: float
    ) -> list[tuple[Any, float]]:
        """Results and seconds of up to `times` calls in a row, at least one, none begun after `deadline`."""
        if self._threads is not None:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, _series, function, arguments, times, deadline)
        results: list[tuple[Any, float]] = []
        while not results or (len(results) < times and time.perf_counter() < deadline):
            begun = time.perf_counter()
            result = await function(*arguments)
            results.append((result, time.perf_counter() - begun))
        return results


def _series(
    function: Callable[..., Any], arguments: tuple[Any, ...], times: int, deadline: float
) -> list[tuple[Any, float]]:
    results: list[tuple[Any, float]] = []
    while not results or (len(results) < times and time.perf_counter() < deadline):
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
        series = [
            self._timed.series(self._contestant.step, (episode, command), times=times, deadline=begun + budget)
            for episode in self._episodes
        ]
        results = [result for each in await asyncio.gather(*series) for result in each]
        seconds = time.perf_counter() - begun
        output = str(results[-1][0])
        each = [took for _, took in results]
        return {"seconds": seconds, "each": each, "output": output[:_SHOWN], "characters": len(output)}

    async def reset(self) -> dict[str, Any]:
        """Reset every episode."""
        reset = await asyncio.gather(*(self._timed.call(self._contestant.reset, each) for each in self._episodes))
        self._episodes = [episode for episode, _ in reset]
        return {"each": [took for _, took in reset]}

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


def pss(containers: list[str]) -> tuple[int | None, int]:
    """Proportional set size in bytes of this process, its descendants and `containers`, and how many these are."""
    pattern = re.compile("|".join(containers).encode()) if containers else None
    parents: dict[int, int] = {}
    ours = {os.getpid()}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if pattern and pattern.search((entry / "cgroup").read_bytes() + (entry / "cmdline").read_bytes()):
                ours.add(int(entry.name))
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    try:
        return sum(map(_pss, ours)), len(ours)
    except PermissionError:
        return None, len(ours)


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
    """The traceback, and in its last line what the harness shows."""
    sys.__excepthook__(kind, error, trace)
    print(f"{kind.__name__}: {(str(error).splitlines() or [''])[0]}", file=sys.stderr)


if __name__ == "__main__":
    sys.excepthook = _say
    asked, answers = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what a command reads is no request
    os.dup2(2, 1)  # what a contestant prints is no answer
    asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), asked=asked, answers=answers))
