"""The benchmark as it is run: real processes, small sizes, no assertions on speed."""

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from claw_envs.sandbox.probe import probe
from evals.perf.measure import Failed
from evals.perf.report import Report
from evals.perf.terminal import scenario
from evals.perf.terminal.bench import Bench, Plan
from evals.perf.terminal.contestants.serve import pss
from evals.perf.terminal.peers import choose
from evals.perf.terminal.process import Program, running

ROOT = Path(__file__).parents[3]


def perf(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "evals.perf", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def quick(out: Path, *names: str, options: tuple[str, ...] = ()) -> Report:
    """A quick run of these contestants."""
    only = [word for name in names for word in ("--only", name)]
    done = perf("terminal", "--quick", "--out", str(out), *only, *options)
    assert done.returncode == 0, done.stderr
    assert (out / "terminal.md").read_text() == done.stdout[:-1]
    return msgspec.json.decode((out / "terminal.json").read_bytes(), type=Report)


def test_ours_and_the_floor_are_measured_in_every_row(tmp_path: Path) -> None:
    if not probe()[0].usable:
        pytest.skip(probe()[0].detail)
    names = ("pipe", "subprocess", "namespace", "namespace-pool", "namespace-env")
    report = quick(tmp_path, *names, options=("--crowd", "3", "--picture", "svg"))
    assert [each.name for each in report.contestants] == list(names)
    measures = [measure.name for measure in report.measures]
    assert measures == [m.name for m in (*scenario.ALONE, *scenario.crowd_measures(3))]
    for name in names:
        assert not report.results[name].failures
        shared = [measure.name for measure in scenario.ALONE] if name == "namespace-pool" else measures
        assert sorted(report.results[name].repeats) == sorted(shared)
    for name in ("pipe", "namespace", "namespace-env"):
        assert all((report.median(name, measure) or 0.0) > 0.0 for measure in measures)
        assert (report.median(name, "sleep") or 0.0) >= 0.5
    sandboxed = {scenario.STARTS: True, scenario.KEEPS: True, scenario.RESTORES: True, scenario.HIDES: True}
    assert report.results["namespace"].traits == report.results["namespace-env"].traits == sandboxed
    assert report.results["subprocess"].traits == dict.fromkeys(sandboxed, False)
    assert report.results["namespace"].versions.keys() >= {"claw-envs"}
    assert len(report.targets) > 5
    assert (tmp_path / "terminal.svg").exists()


@pytest.mark.skipif(importlib.util.find_spec("swerex") is not None, reason="SWE-ReX is installed here")
def test_a_peer_that_is_not_installed_is_said_to_be_missing(tmp_path: Path) -> None:
    report = quick(tmp_path, "pipe", "swerex-local")
    assert (report.results["swerex-local"].absent or "").startswith("not installed")
    assert report.results["pipe"].absent is None
    assert "- SWE-ReX local: not installed" in (tmp_path / "terminal.md").read_text()


def test_one_that_takes_too_long_is_given_up() -> None:
    plan = Plan(
        python=sys.executable,
        image="",
        crowds=(1,),
        repeats=2,
        warm_up=False,
        patience=0.3,  # less than one of its steps sleeps
        size=scenario.Size(steps=1, resets=1, starts=1, budget=0.1, crowd_steps=1),
    )
    bench = Bench(choose(["pipe"]), plan)
    asyncio.run(bench.run())
    assert bench.results["pipe"].failures == {"alone": "not done within 0.3 s"}
    assert bench.results["pipe"].repeats == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("terminal", "--only", "nobody"), "no contestant 'nobody'"),
        (("terminal", "--peers", "/nowhere/python"), "No such file"),
        (("terminal", "--peers", "/bin/false"), "not Python 3.11"),
        (("terminal", "--picture", "gif"), "png or svg"),
        (("terminal", "--repeats", "0"), "--repeats"),
        (("terminal", "--crowd", "none"), "--crowd"),
        (("nothing",), "nothing"),
    ],
)
def test_bad_input_is_told_and_exits_with_2(arguments: tuple[str, ...], said: str) -> None:
    done = perf(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_help_names_every_option() -> None:
    said = perf("terminal", "--help").stdout
    for option in ("peers", "out", "only", "repeats", "crowd", "patience", "image", "picture", "quick"):
        assert f"--{option}" in said


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
    return Program(sys.executable, str(script), kind, {})


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
