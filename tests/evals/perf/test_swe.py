"""The benchmark of repairs: as it is run, in small sizes, and its targets from figures that are made up."""

import ensurepip
import importlib.util
import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from claw_envs.sandbox.probe import probe
from evals.perf.measure import STARTS, Failed
from evals.perf.report import Report, Target
from evals.perf.swe import peers, scenario
from evals.perf.swe.subject import begun_at, generate
from evals.perf.swe.targets import targets

from . import commands
from .commands import perf, quick

made = partial(commands.made, "swe", peers.ENTRIES, [*scenario.ALONE, *scenario.crowd_measures(16)])


@pytest.fixture
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of layers of the test's own, and pip's own wheel without an index."""
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{Path(ensurepip.__file__).parent}/_bundled /usr/share/python-wheels")


@pytest.mark.usefixtures("_own_cache")
def test_ours_and_the_floor_are_measured_in_every_row(tmp_path: Path) -> None:
    if not probe()[0].usable:
        pytest.skip(probe()[0].detail)
    pytest.importorskip("swebench")
    report = quick("swe", tmp_path, "clone", "namespace", options=("--picture", "svg"))
    alone = {measure.name for measure in scenario.ALONE}
    for name, measures in (("clone", alone), ("namespace", {measure.name for measure in report.measures})):
        result = report.results[name]
        assert not result.failures
        assert result.repeats.keys() == measures
        assert all((report.median(name, measure) or 0.0) > 0.0 for measure in measures - {"memory_2"})
        assert (report.median(name, "begun") or 0.0) <= (report.median(name, "verdict") or 0.0)
    traits = dict.fromkeys((STARTS, scenario.KEEPS, scenario.RESTORES, scenario.HIDES), True)
    assert report.results["namespace"].traits == traits
    assert report.results["clone"].traits == traits | {scenario.HIDES: False}
    assert {target.holds for target in report.targets if target.text.startswith("namespace: reset")} <= {True, False}
    assert (tmp_path / "swe.svg").exists()


@pytest.mark.skipif(importlib.util.find_spec("minisweagent") is not None, reason="the peer is installed here")
def test_a_peer_that_is_not_installed_is_said_to_be_missing(tmp_path: Path) -> None:
    report = quick("swe", tmp_path, "clone", "mini-docker")
    assert report.results["mini-docker"].absent
    assert report.results["clone"].absent is None
    assert "- mini-swe-agent docker, swebench: " in (tmp_path / "swe.md").read_text()


def test_the_repository_is_the_same_each_time_and_has_a_fresh_index(tmp_path: Path) -> None:
    first, second = (generate(tmp_path / name, files=101) for name in ("first", "second"))
    assert first.commit == second.commit
    files = sorted((first.folder / "repository" / "package").rglob("*.py"))
    assert len(files) == 101
    assert sum(file.stat().st_size for file in files) / 101 == pytest.approx(10_000, rel=0.05)
    said = subprocess.run(["git", "-C", str(first.repository), "diff-files"], capture_output=True, check=True).stdout
    assert said == b""


def test_when_the_tests_began_is_read_from_their_log() -> None:
    log = "+ date '+begun at %s.%N'\nbegun at 1700000000.250000000\nPASSED tests/test_nothing.py::test_nothing\n"
    assert begun_at(log) == 1700000000.25
    with pytest.raises(Failed, match="did not begin: 'killed'"):
        begun_at("killed")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "nobody"), "no contestant 'nobody'"),
        (("--peers", "/nowhere/python"), "pip install mini-swe-agent swebench"),
        (("--picture", "gif"), "png or svg"),
        (("--crowd", "0"), "--crowd"),
    ],
)
def test_bad_input_is_told_and_exits_with_2(arguments: tuple[str, ...], said: str) -> None:
    done = perf("swe", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def judged(text: str, report: Report) -> Target:
    """The one target that begins with `text`."""
    (found,) = [target for target in targets(report) if target.text.startswith(text)]
    return found


@pytest.mark.parametrize(("reset", "holds"), [(500.0, True), (501.0, False)])
def test_the_repository_is_ready_in_half_a_second(reset: float, holds: bool) -> None:
    assert judged("namespace: reset", made(namespace={"reset": reset})).holds is holds
    assert judged("docker: reset", made(namespace={"reset": reset})).holds is None


@pytest.mark.parametrize(("step", "holds"), [(0.51, True), (0.53, False)])
def test_a_step_is_judged_by_its_distance_from_the_pipe(step: float, holds: bool) -> None:
    assert judged("namespace: a step", made(namespace={"step": step}, clone={"step": 0.02})).holds is holds


def test_both_backends_are_compared_with_the_peer() -> None:
    report = made(namespace={"verdict": 90.0}, docker={"verdict": 16000.0}, mini_docker={"verdict": 15700.0})
    assert judged("namespace: ahead", report).holds is True
    behind = judged("docker: ahead", report)
    assert behind.measured == "ahead in 0 of 1; not: submission to the verdict (16000, mini-docker 15700 ms)"
