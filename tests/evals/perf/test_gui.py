"""The benchmark of the browser: as it is run, in small sizes, and its targets from figures that are made up."""

import importlib.util
from functools import partial
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.gui.browser.executable import find_chromium
from evals.perf.gui import peers, scenario
from evals.perf.gui.targets import targets
from evals.perf.measure import STARTS
from evals.perf.report import Report, Target

from . import commands
from .commands import perf, quick

made = partial(commands.made, "gui", peers.ENTRIES, [*scenario.ALONE, *scenario.crowd_measures(16)])


def test_ours_and_the_floor_are_measured_in_every_row(tmp_path: Path) -> None:
    try:
        find_chromium()
    except UserError as error:
        pytest.skip(str(error))
    report = quick("gui", tmp_path, "cdp", "claw", options=("--crowd", "2", "--picture", "svg"))
    measures = {measure.name for measure in report.measures}
    for name, missing in (("cdp", set[str]()), ("claw", {scenario.CAPTURE})):
        result = report.results[name]
        assert not result.failures
        assert measures - result.repeats.keys() == missing
        assert all((report.median(name, measure) or 0.0) > 0.0 for measure in result.repeats.keys() - {"memory_2"})
        assert result.traits == {STARTS: True, scenario.CHOOSES: True}
        assert "playwright" in result.versions
    assert {target.holds for target in report.targets if "BrowserGym" not in target.text} > {None}
    assert (tmp_path / "gui.svg").exists()


@pytest.mark.skipif(importlib.util.find_spec("browsergym") is not None, reason="BrowserGym is installed")
def test_a_peer_that_is_not_installed_is_said_to_be_missing(tmp_path: Path) -> None:
    try:
        find_chromium()
    except UserError as error:
        pytest.skip(str(error))
    report = quick("gui", tmp_path, "browsergym", options=("--crowd", "2"))
    assert (report.results["browsergym"].absent or "").startswith("not installed")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "nobody"), "no contestant 'nobody'"),
        (("--peers", "/nowhere/python"), "pip install browsergym-core"),
        (("--picture", "gif"), "png or svg"),
        (("--executable", "/nowhere/chromium"), "no program '/nowhere/chromium'"),
        (("--crowd", "0"), "--crowd"),
    ],
)
def test_bad_input_is_told_and_exits_with_2(arguments: tuple[str, ...], said: str) -> None:
    done = perf("gui", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def judged(text: str, report: Report) -> Target:
    """The one target that begins with `text`."""
    (found,) = [target for target in targets(report, 16) if target.text.startswith(text)]
    return found


@pytest.mark.parametrize(("step", "holds"), [(65.0, True), (65.1, False)])
@pytest.mark.parametrize(("floor", "named"), [("capture", "the bare capture"), ("screenshot", "a bare click")])
def test_a_step_is_judged_by_bare_calls(step: float, holds: bool, floor: str, named: str) -> None:
    report = made(claw={"screenshot": step}, cdp={"capture": 1.0, "screenshot": 1.0} | {floor: 50.0})
    assert judged(f"claw: a click and its screenshot at most 1.3 times {named}", report).holds is holds


@pytest.mark.parametrize(
    ("reset", "bound", "factor"), [(100.0, True, True), (101.0, True, False), (501.0, False, False)]
)
def test_a_reset_is_bounded_and_compared_with_every_peer(reset: float, bound: bool, factor: bool) -> None:
    report = made(claw={"reset": reset}, browsergym={"reset": 5000.0}, browsergym_fast={"reset": 500.0})
    assert judged("claw: reset at most 500 ms", report).holds is bound
    assert judged("claw: reset 5 times as fast as browsergym-fast", report).holds is factor


@pytest.mark.parametrize(("memory", "holds"), [(1500.0, True), (1501.0, False)])
def test_sixteen_contexts_have_a_bound_and_other_crowds_none(memory: float, holds: bool) -> None:
    report = made(claw={"memory_16": memory})
    assert judged("claw: 16 at once: memory of all", report).holds is holds
    assert not [target for target in targets(report, 4) if "memory" in target.text]


def test_more_steps_a_second_are_ahead() -> None:
    report = made(claw={"steps_16": 9.0, "both": 80.0}, browsergym_parts={"steps_16": 10.0, "both": 90.0})
    target = judged("claw: ahead", report)
    assert target.measured == "ahead in 1 of 2; not: 16 at once: click + both (9, browsergym-parts 10 steps/s)"
    assert target.holds is False


def test_what_was_not_measured_holds_nothing_and_is_no_failure() -> None:
    assert {target.holds for target in targets(made(cdp={"capture": 30.0}), 16)} == {None}
