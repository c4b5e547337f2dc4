"""A small cluster with round figures."""

import msgspec

from evals.perf.scale.curve import Curve
from evals.perf.scale.pipeline import Plan
from evals.perf.scale.table import (
    Hosts,
    Judging,
    LearnerPoint,
    Learning,
    Point,
    Serving,
    Spread,
    Sync,
    Table,
    Workload,
)

CURVE = Curve(base=0.01, sequence=0.001, cached=1e-6, prefill=1e-5)


def constant(value: float) -> Spread:
    """No spread at all."""
    return Spread(median=value)


TABLE = Table(
    title="round figures",
    origin="measured",
    serving=Serving(
        max_sequences=8,
        kv_tokens=1e9,
        points=[
            Point(
                prompt=prompt,
                response=response,
                concurrent=n,
                tokens_per_second=response * CURVE.requests_per_second(prompt, response, n, new=prompt),
            )
            for prompt, response, n in ((100, 50, 1), (100, 200, 8), (800, 50, 4), (50, 400, 8))
        ],
    ),
    learning=Learning(points=[LearnerPoint(gpus=1, tokens_per_second=10_000.0)]),
    sync=Sync(seconds=0.1),
    judging=Judging(seconds=constant(0.5), workers=64),
    hosts=Hosts(cores=1000.0, step=constant(0.2), reset=constant(0.1)),
    workload=Workload(
        group_size=4,
        turns=constant(3),
        prompt=constant(100),
        response=constant(50),
        observation=constant(30),
    ),
)
PLAN = Plan(gpus=3, learning=1, environments=32, batch=16, max_staleness=2, warm=4, updates=20)


def spread_out() -> Table:
    """The same cluster where everything varies, and steps hang and fail now and then."""
    replace = msgspec.structs.replace
    work = replace(
        TABLE.workload,
        turns=Spread(median=3, sigma=0.6, most=8),
        response=Spread(median=50, sigma=0.8),
        observation=Spread(median=30, sigma=1.0),
    )
    hosts = replace(TABLE.hosts, step=Spread(median=0.2, sigma=1.5, most=10.0), hang=0.01, abort=0.02, abort_retries=1)
    judging = replace(TABLE.judging, seconds=Spread(median=0.4, sigma=0.5))
    return replace(TABLE, workload=work, hosts=hosts, judging=judging)
