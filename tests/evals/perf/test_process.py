"""A contestant's process: what it is asked, what it answers, and what is left of it."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evals.perf.measure import Failed
from evals.perf.process import Program, running
from evals.perf.serve import pss

CONTESTANT = """
import os, subprocess
PACKAGES = []
def make(kind, settings): return Odd(kind)
class Odd:
    def __init__(self, kind): self.kind = kind
    def start(self): print("chatter"); return subprocess.Popen(["sleep", "100"])
    def step(self, episode, command):
        if self.kind == "raises": raise RuntimeError("out of steps")
        if self.kind == "dies": os._exit(3)
        return os.read(0, 10).decode() + command
    def reset(self, episode): self.stop(episode); return self.start()
    def stop(self, episode): episode.kill(); episode.wait()
    def containers(self): return []
"""


def odd(tmp_path: Path, kind: str) -> Program:
    script = tmp_path / "odd.py"
    script.write_text(CONTESTANT)
    return Program(sys.executable, script, kind, {})


def test_a_contestant_may_print_and_read_without_harm(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(odd(tmp_path, "well")) as (process, _):
            assert len((await process.ask("start", n=3))["each"]) == 3
            answer = await process.ask("step", command="hello", times=2, budget=5.0)
            assert (answer["output"], len(answer["each"])) == ("hello", 6)
            assert len((await process.ask("reset"))["each"]) == 3
            assert len((await process.ask("stop"))["each"]) == 3

    asyncio.run(main())


@pytest.mark.parametrize(("kind", "reason"), [("raises", "RuntimeError: out of steps"), ("dies", "chatter")])
def test_a_contestant_that_fails_is_a_failure_with_its_last_words(tmp_path: Path, kind: str, reason: str) -> None:
    async def main() -> None:
        async with running(odd(tmp_path, kind)) as (process, _):
            await process.ask("start", n=1)
            await process.ask("step", command=":", times=1, budget=1.0)

    with pytest.raises(Failed, match=reason):
        asyncio.run(main())


def test_nothing_that_a_contestant_started_outlives_it(tmp_path: Path) -> None:
    async def main() -> int:
        async with running(odd(tmp_path, "well")) as (process, _):
            await process.ask("start", n=1)
            return int((await process.ask("memory"))["processes"])

    assert asyncio.run(main()) == 2


def test_memory_counts_this_process_and_what_descends_from_it() -> None:
    alone, processes = pss([])
    child = subprocess.Popen(
        ["sh", "-c", "sleep 100 & echo ready; wait"], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert child.stdout is not None
        child.stdout.readline()
        more, with_child = pss([])
    finally:
        subprocess.run(["pkill", "-s", str(child.pid)], check=True)
        child.communicate()
    assert alone is not None
    assert more is not None
    assert more > alone > 0
    assert with_child == processes + 2


WHOLE = """
PACKAGES = []
def make(kind, settings): return Counted()
class Counted:
    started = 0
    def start(self): self.started += 1; return [self.started]
    def step(self, episode, command): episode.append(command)
    def reset(self, episode): return self.start()
    def stop(self, episode): pass
    def tell(self, episode): return episode
    def containers(self): return []
"""


def test_a_whole_episode_is_a_new_one_with_its_steps_and_what_it_says_at_its_end(tmp_path: Path) -> None:
    script = tmp_path / "counted.py"
    script.write_text(WHOLE)

    async def main() -> None:
        async with running(Program(sys.executable, script, "", {})) as (process, _):
            await process.ask("start", n=2)
            whole = await process.ask("whole", commands=["a", "b"], last="tell")
            assert sorted(whole["results"]) == [[3, "a", "b"], [4, "a", "b"]]
            called = await process.ask("call", what="tell")
            assert called["results"] == whole["results"]
            assert len(called["each"]) == 2
            assert (await process.ask("call", what="nothing"))["results"] == []

    asyncio.run(main())


LIMITS = """
import asyncio, subprocess, sys, time
PACKAGES = []
LOOP = "print(flush=True)\\nwhile True: pass"
def make(kind, settings): return {"polite": Polite, "rude": Rude, "endless": Endless}[kind]()
class Polite:
    steps = 0
    changed = asyncio.Event()
    async def start(self): return None
    async def step(self, episode, command):
        if command == "hang": return await self.hang()
        self.steps += 1
        self.changed.set()
    async def hang(self):
        while self.steps < 2:
            await self.changed.wait()
            self.changed.clear()
    async def reset(self, episode): return None
    async def stop(self, episode): pass
    def containers(self): return []
class Rude(Polite):
    async def hang(self): time.sleep(0.2)
class Endless(Polite):
    limited = False
    async def hang(self):
        shell = subprocess.Popen(["sh", "-c", f"{sys.executable} -c '{LOOP}' & wait"], stdout=subprocess.PIPE)
        shell.stdout.readline()
        shell.kill()
        shell.wait()
"""


def ask(tmp_path: Path, kind: str, *requests: dict[str, Any]) -> dict[str, Any]:
    """The last answer to `requests`, of a contestant with three episodes."""
    script = tmp_path / "limits.py"
    script.write_text(LIMITS)

    async def main() -> dict[str, Any]:
        async with running(Program(sys.executable, script, kind, {})) as (process, _):
            await process.ask("start", n=3)
            return [await process.ask(**request) for request in requests][-1]

    return asyncio.run(main())


@pytest.mark.parametrize(("kind", "free"), [("polite", True), ("rude", False)])
def test_beside_a_step_that_hangs_the_others_step_or_wait_for_it(tmp_path: Path, kind: str, free: bool) -> None:
    answer = ask(tmp_path, kind, {"do": "beside", "command": "", "hanging": "hang", "budget": 0.0, "pause": 2.0})
    assert answer["free"] is free
    assert answer["hung"] > 0
    assert len(answer["each"]) == 2


def test_who_has_no_limit_is_not_made_to_hang(tmp_path: Path) -> None:
    answer = ask(tmp_path, "endless", {"do": "beside", "command": "", "hanging": "hang", "budget": 0.0, "pause": 0.0})
    assert answer["hung"] is None
    assert answer["free"] is False


@pytest.mark.parametrize("adopt", [True, False])
def test_what_outlives_its_parent_is_found_once_it_is_adopted(tmp_path: Path, adopt: bool) -> None:
    requests = [{"do": "adopt"}] if adopt else []
    requests += [{"do": "step", "command": "hang", "times": 1, "budget": 0.0}, {"do": "busy", "seconds": 0.3}]
    # all three episodes leave a loop behind
    assert ask(tmp_path, "endless", *requests)["processes"] == (3 if adopt else 0)
