"""What the browser must reach, and how far ahead of BrowserGym it must be."""

from evals.perf.gui.scenario import CAPTURE, SCREENSHOT
from evals.perf.report import Report, Target, shown
from evals.perf.targets import Bound, ahead, bounded, times_as_fast

OURS, FLOOR = "claw", "cdp"
READY = 500.0
"""Milliseconds of a reset in a warm browser."""
MOST = 1.3
"""How many times as long as the bare capture a click and its screenshot may take."""
MEMORY = 1500.0
"""MB of 16 contexts."""
FASTER = 5.0
"""How many times as fast as BrowserGym a reset must be."""
MEASURED_CROWD = 16


def targets(report: Report, n: int) -> list[Target]:
    """All targets, judged by the medians of `report`."""
    found = [
        _near(report, CAPTURE, "the bare capture of an unchanged page"),
        _near(report, SCREENSHOT, "a bare click and the capture of the changed page"),
        bounded(report, Bound(OURS, "reset", READY)),
    ]
    if n == MEASURED_CROWD:
        found.append(bounded(report, Bound(OURS, f"memory_{n}", MEMORY)))
    peers = [each.name for each in report.contestants if not (each.ours or each.baseline)]
    found += [times_as_fast(report, OURS, peer, report.measure("reset"), FASTER) for peer in peers]
    return [*found, ahead(report, OURS, peers)]


def _near(report: Report, floor: str, name: str) -> Target:
    """The whole step against a measure of bare calls."""
    ours, bare = report.median(OURS, SCREENSHOT), report.median(FLOOR, floor)
    ratio = None if ours is None or bare is None else ours / bare
    return Target(
        text=f"{OURS}: a click and its screenshot at most {MOST:g} times {name}",
        measured=f"{shown(ratio)} times ({shown(ours)} and {shown(bare)} ms)",
        holds=None if ratio is None else ratio <= MOST,
    )
