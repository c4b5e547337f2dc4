"""What the repair of a repository must reach, and how far ahead of the peer it must be.

Both backends are compared with mini-swe-agent in Docker, whose verdicts the official harness gives.
"""

from evals.perf.report import Report, Target
from evals.perf.targets import Bound, ahead, bounded, near

READY = 500.0
"""Milliseconds until the repository is ready."""
FLOOR = "clone"
DISTANCE = 0.5
"""Milliseconds that a step of the namespace backend may take longer than on a bare pipe, as in the terminal."""
BOUNDS = (
    Bound("namespace", "start", READY),
    Bound("namespace", "reset", READY),
    Bound("docker", "reset", READY),
)


def targets(report: Report) -> list[Target]:
    """All targets, judged by the medians of `report`."""
    found = [bounded(report, bound) for bound in BOUNDS]
    text = f"namespace: a step within {DISTANCE} ms of a bare pipe's round trip"
    found.append(near(report, Bound("namespace", "step", DISTANCE), FLOOR, text=text))
    peers = [each.name for each in report.contestants if not (each.ours or each.baseline)]
    return [*found, *(ahead(report, ours, peers) for ours in ("namespace", "docker"))]
