"""The benchmark as it is run: real processes, small sizes, no assertions on speed."""

import asyncio
import importlib.util
import sys
from pathlib import Path

import pytest

from claw_envs.sandbox.probe import probe
from evals.perf.entries import choose
from evals.perf.measure import STARTS
from evals.perf.terminal import scenario
from evals.perf.terminal.bench import Plan, run
from evals.perf.terminal.peers import ENTRIES

from .commands import perf, quick


def test_ours_and_the_floor_are_measured_in_every_row(tmp_path: Path) -> None:
    if not probe()[0].usable:
        pytest.skip(probe()[0].detail)
    names = ("pipe", "subprocess", "namespace", "namespace-pool", "namespace-env")
    report = quick("terminal", tmp_path, *names, options=("--crowd", "3", "--picture", "svg"))
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
    sandboxed = {STARTS: True, scenario.KEEPS: True, scenario.RESTORES: True, scenario.HIDES: True}
    assert report.results["namespace"].traits == report.results["namespace-env"].traits == sandboxed
    assert report.results["subprocess"].traits == dict.fromkeys(sandboxed, False)
    assert report.results["namespace"].versions.keys() >= {"claw-envs"}
    assert len(report.targets) > 5
    assert (tmp_path / "terminal.svg").exists()


@pytest.mark.skipif(importlib.util.find_spec("swerex") is not None, reason="SWE-ReX is installed here")
def test_a_peer_that_is_not_installed_is_said_to_be_missing(tmp_path: Path) -> None:
    report = quick("terminal", tmp_path, "pipe", "swerex-local")
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
    results = asyncio.run(run(choose(ENTRIES, ["pipe"]), plan))
    assert results["pipe"].failures == {"alone": "not done within 0.3 s"}
    assert results["pipe"].repeats == {}


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
