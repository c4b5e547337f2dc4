"""What the terminal's sandboxes must reach on 2 cores, and how far ahead of the peers they must be.

The namespace backend is compared with every peer, the docker backend with those that use Docker too: a peer that only
starts processes on the host gives no isolation that a container could be compared with. mini-swe-agent's `local` and
`bubblewrap` have nothing to start or to reset, so those rows of theirs are the cost of a Python object.
"""

from evals.perf.report import Report, Target
from evals.perf.targets import Bound, ahead, bounded, near, times_as_fast

PIPE_DISTANCE = 0.5
"""Milliseconds that a namespace step may take longer than the round trip of the same pipe without a sandbox."""
TIMES = 5.0
"""How many times as fast as SWE-ReX."""
TIMES_MEASURES = ("builtin", "cold", "start", "sleep")
BOUNDS = (
    Bound("namespace", "reset", 40.0),
    Bound("namespace", "start_128", 3.0),
    Bound("namespace", "memory_128", 4.0),
    Bound("docker", "builtin", 3.0),
    Bound("docker", "reset", 150.0),
)


def targets(report: Report) -> list[Target]:
    """All targets, judged by the medians of `report`."""
    measured = {measure.name for measure in report.measures}
    text = f"namespace: a builtin's step within {PIPE_DISTANCE} ms of a bare pipe's round trip"
    found = [near(report, Bound("namespace", "builtin", PIPE_DISTANCE), "pipe", text=text)]
    found += [bounded(report, bound) for bound in BOUNDS if bound.measure in measured]
    for ours, rival in (("namespace", "swerex-local"), ("docker", "swerex-docker")):
        found += [times_as_fast(report, ours, rival, report.measure(name), TIMES) for name in TIMES_MEASURES]
    found.append(times_as_fast(report, "docker-pool", "swerex-docker", report.measure("start"), TIMES))
    for ours, kind in (("namespace", ""), ("docker", "docker")):
        peers = [each.name for each in report.contestants if not (each.ours or each.baseline) and kind in each.name]
        found.append(ahead(report, ours, peers))
    return found
