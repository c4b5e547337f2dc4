"""What the interpreter must reach, and how far ahead of the peers it must be.

One call that hangs must cost the others no more than the core that it takes: they may get half as slow again on two
cores, where waiting for it, or sharing a core with it, would double their time at least.

The namespace backend is compared with every peer, the docker backend with those that use Docker too. gem's tools and
`verifiers` start nothing, or make a directory, so their starts, resets and memory are those of a Python object.
"""

from evals.perf.report import Report, Target
from evals.perf.targets import Bound, ahead, bounded, near

FLOOR = "exec"
DISTANCE = 5.0
"""Milliseconds that a call among many may take longer than bare execution."""
SLOWDOWN = 1.5
"""How many times as long a call may take while another one hangs."""


def bounds(n: int) -> list[Bound]:
    """What holds for a crowd of `n`."""
    ours = ("namespace", "namespace-env", "docker", "docker-env")
    return [Bound(name, f"slowdown_{n}", SLOWDOWN) for name in ours]


def targets(report: Report, n: int) -> list[Target]:
    """All targets, judged by the medians of `report`."""
    found = []
    for bound in bounds(n):
        text = f"{bound.contestant}: a call, {n} at once, within {DISTANCE:g} ms of bare execution"
        found.append(near(report, Bound(bound.contestant, f"call_{n}", DISTANCE), FLOOR, text=text))
    for bound in bounds(n):
        text = f"{bound.contestant}: a call beside one that hangs at most {SLOWDOWN:g} times as slow as without it"
        found.append(bounded(report, bound, text=text))
    for ours, kind in (("namespace", ""), ("docker", "docker")):
        peers = [each.name for each in report.contestants if not (each.ours or each.baseline) and kind in each.name]
        found.append(ahead(report, ours, peers, but=[f"slowdown_{n}"]))
    return found
