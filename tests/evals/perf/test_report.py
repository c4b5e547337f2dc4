"""Tables, targets and the picture, from figures that are made up."""

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evals.perf import plot, report
from evals.perf.measure import STARTS, Contestant
from evals.perf.report import Report, Target, shown
from evals.perf.terminal import peers, scenario
from evals.perf.terminal.targets import targets

from . import commands

MEASURES = [*scenario.ALONE, *scenario.crowd_measures(128)]
made = partial(commands.made, "terminal", peers.ENTRIES, MEASURES)


def judged(text: str, report_: Report) -> Target:
    """The one target that begins with `text`."""
    (found,) = [target for target in targets(report_) if target.text.startswith(text)]
    return found


@pytest.mark.parametrize(
    ("value", "text"), [(0.04321, "0.0432"), (141.26, "141"), (23456.0, "23500"), (0.5, "0.5"), (None, "–")]
)
def test_figures_are_three_digits_long(value: float | None, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(("step", "holds"), [(0.51, True), (0.52, False)])
def test_the_step_is_judged_by_its_distance_from_the_pipe(step: float, holds: bool) -> None:
    assert judged("namespace: a builtin's", made(namespace={"builtin": step}, pipe={"builtin": 0.015})).holds is holds


@pytest.mark.parametrize(("megabytes", "holds"), [(4.0, True), (4.1, False)])
def test_a_bound_may_be_reached_but_not_passed(megabytes: float, holds: bool) -> None:
    target = judged("namespace: 128 at once: memory", made(namespace={"memory_128": megabytes}))
    assert target.holds is holds


@pytest.mark.parametrize(("cold", "holds"), [(500.0, True), (499.0, False)])
def test_five_times_as_fast(cold: float, holds: bool) -> None:
    target = judged("namespace: cold start 5 times", made(namespace={"cold": 100.0}, swerex_local={"cold": cold}))
    assert target.holds is holds


def test_ahead_in_every_row_names_the_rows_that_are_lost_and_who_starts_nothing() -> None:
    ours = {"cold": 30.0, "builtin": 0.1, "rate_128": 900.0}
    report = made(namespace=ours, mini_local={"cold": 0.1, "builtin": 2.0, "rate_128": 800.0})
    report.results["mini-local"].traits[STARTS] = False
    target = judged("namespace: ahead", report)
    assert target.holds is False
    assert target.measured == "ahead in 2 of 3; not: cold start (30, mini-local 0.1 ms, which starts nothing)"


def test_more_steps_a_second_are_better() -> None:
    slow = made(namespace={"rate_128": 700.0}, mini_local={"rate_128": 800.0})
    assert judged("namespace: ahead", slow).measured.startswith("ahead in 0 of 1; not: 128 at once: steps (700,")


def test_what_was_not_measured_holds_nothing_and_is_no_failure() -> None:
    assert {target.holds for target in targets(made(pipe={"builtin": 0.1}))} == {None}


def test_the_table_has_medians_and_the_notes_say_what_is_missing() -> None:
    report_ = made(namespace={"builtin": 0.1}, swerex_local={}, mini_local={"builtin": 2.0})
    report_.results["swerex-local"].absent = "not installed (no module)"
    report_.results["mini-local"].failures["alone"] = "out of luck"
    table = report.table(report_, scenario.ALONE).splitlines()
    assert table[0].split(" | ")[4] == "step `:` [ms]"
    assert [line.split(" | ")[0] for line in table[2:]] == ["| **claw-envs namespace**", "| mini-swe-agent local"]
    assert [line.split(" | ")[4] for line in table[2:]] == ["0.1", "2"]
    assert report.notes(report_) == [
        "- SWE-ReX local: not installed (no module)",
        "- mini-swe-agent local, alone: out of luck",
    ]


def test_the_json_can_be_read_again(tmp_path: Path) -> None:
    written = made(namespace={"builtin": 0.1})
    written.targets = targets(written)
    report.write(written, "text", tmp_path)
    assert msgspec.json.decode((tmp_path / "terminal.json").read_bytes(), type=Report) == written
    assert (tmp_path / "terminal.md").read_text() == "text"


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_the_picture_is_drawn_where_figures_are_missing_or_zero(tmp_path: Path, suffix: str, magic: bytes) -> None:
    drawn = made(pipe={"builtin": 0.01, "cold": 0.0}, namespace={"builtin": 0.1}, mini_local={"cold": 3.0})
    path = tmp_path / f"picture.{suffix}"
    blue = plot.Group("all", "#0072B2")

    def group(_: Contestant) -> plot.Group:
        return blue

    options: dict[str, Any] = {"title": "title", "group": group, "bounds": {"builtin": 0.05}}
    plot.draw(drawn, MEASURES, path, **options)
    assert path.read_bytes().startswith(magic)
