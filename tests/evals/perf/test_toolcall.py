"""The benchmark of Python tools: as it is run, in small sizes, and its targets from figures that are made up."""

import importlib.util
from functools import partial
from pathlib import Path

import pytest

from claw_envs.sandbox.probe import probe
from evals.perf.measure import STARTS
from evals.perf.report import Report, Target
from evals.perf.toolcall import peers, scenario
from evals.perf.toolcall.targets import targets

from . import commands
from .commands import perf, quick

made = partial(commands.made, "toolcall", peers.ENTRIES, [*scenario.ALONE, *scenario.crowd_measures(32)])
SHOWN = {STARTS, scenario.KEEPS, scenario.HIDES, scenario.FREE, scenario.KILLS, scenario.GOES_ON}


def test_ours_and_the_floor_are_measured_in_every_row(tmp_path: Path) -> None:
    if not probe()[0].usable:
        pytest.skip(probe()[0].detail)
    names = ("exec", "pipe", "subprocess", "namespace", "namespace-env")
    report = quick("toolcall", tmp_path, *names, options=("--crowd", "2", "--picture", "svg"))
    measures = {measure.name for measure in report.measures}
    for name in ("namespace", "namespace-env"):
        result = report.results[name]
        assert not result.failures
        assert result.repeats.keys() == measures
        assert all((report.median(name, measure) or 0.0) > 0.0 for measure in measures - {"memory_2"})
        assert {key: value for key, value in result.traits.items() if key != scenario.OFFLINE} == dict.fromkeys(
            SHOWN, True
        )
        assert result.traits.get(scenario.OFFLINE, True)
        assert result.versions.keys() >= {"claw-envs"}
    assert not report.results["subprocess"].traits[scenario.KEEPS]
    assert report.results["subprocess"].traits[scenario.KILLS]
    assert measures - report.results["subprocess"].repeats.keys() == {"state"}
    for name in ("exec", "pipe"):
        assert report.results[name].traits.keys().isdisjoint({scenario.FREE, scenario.KILLS, scenario.GOES_ON})
        assert report.results[name].traits[scenario.KEEPS]
        assert measures - report.results[name].repeats.keys() == {"beside_2", "slowdown_2", "hung"}
    assert {target.holds for target in report.targets if target.text.startswith("namespace")} > {None}
    assert (tmp_path / "toolcall.svg").exists()


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is not None for name in ("gem", "verifiers")), reason="the peers are installed"
)
def test_peers_that_are_not_installed_are_said_to_be_missing(tmp_path: Path) -> None:
    report = quick("toolcall", tmp_path, "exec", "gem", "verifiers", "verifiers-pythonenv", options=("--crowd", "2"))
    for name in ("gem", "verifiers", "verifiers-pythonenv"):
        assert (report.results[name].absent or "").startswith("not installed")
    assert report.results["exec"].absent is None
    assert "- gem: not installed" in (tmp_path / "toolcall.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "nobody"), "no contestant 'nobody'"),
        (("--peers", "/nowhere/python"), "pip install gem-llm"),
        (("--picture", "gif"), "png or svg"),
        (("--crowd", "1"), "--crowd"),
    ],
)
def test_bad_input_is_told_and_exits_with_2(arguments: tuple[str, ...], said: str) -> None:
    done = perf("toolcall", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def judged(text: str, report: Report) -> Target:
    """The one target that begins with `text`."""
    (found,) = [target for target in targets(report, 32) if target.text.startswith(text)]
    return found


@pytest.mark.parametrize(("call", "holds"), [(5.25, True), (5.26, False)])
def test_a_call_is_judged_by_its_distance_from_bare_execution(call: float, holds: bool) -> None:
    report = made(namespace={"call_32": call}, exec={"call_32": 0.25}, pipe={"call_32": 1.0})
    assert judged("namespace: a call, 32 at once, within 5 ms of bare execution", report).holds is holds


@pytest.mark.parametrize(("slowdown", "holds"), [(1.5, True), (1.51, False)])
def test_a_call_that_hangs_may_cost_the_others_half_as_much_again(slowdown: float, holds: bool) -> None:
    assert judged("docker-env: a call beside", made(docker_env={"slowdown_32": slowdown})).holds is holds


def test_the_ratio_is_no_race() -> None:
    ours = {"call": 0.2, "slowdown_32": 1.1}
    assert judged("namespace: ahead", made(namespace=ours, gem={"call": 15.0, "slowdown_32": 1.0})).holds is True
    behind = judged("namespace: ahead", made(namespace={"call": 0.2}, gem={"call": 0.1}))
    assert behind.measured == "ahead in 0 of 1; not: call `6 * 7` (0.2, gem 0.1 ms)"


def test_docker_is_compared_with_docker_only() -> None:
    target = judged("docker: ahead", made(docker={"call": 2.0}, gem={"call": 1.0}, verifiers_docker={"call": 50.0}))
    assert target.text == "docker: ahead in every row of verifiers-docker"
    assert target.holds is True


def test_what_was_not_measured_holds_nothing_and_is_no_failure() -> None:
    assert {target.holds for target in targets(made(exec={"call_32": 0.1}), 32)} == {None}
