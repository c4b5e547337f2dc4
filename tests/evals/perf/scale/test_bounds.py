"""Means of a workload and the split of GPUs."""

import msgspec
import numpy as np
import pytest

from claw_envs.core.errors import UserError
from evals.perf.scale.bounds import means, rates, split
from evals.perf.scale.curve import fit_curve
from evals.perf.scale.draws import mean, stream
from evals.perf.scale.pipeline import Mode, Plan
from evals.perf.scale.table import H100, Spread, read_table
from tests.evals.perf.scale.tables import PLAN, TABLE

replace = msgspec.structs.replace


def test_means_of_a_workload_without_spread() -> None:
    average = means(TABLE)
    assert average[:2] == (3, 100 + 3 * 50 + 2 * 30)
    assert average.response == 50
    assert average.new == pytest.approx((100 + 180 + 260) / 3)
    assert [average.cached, average.whole] == pytest.approx([180 + 25, 180 + 50])


def test_a_prefix_that_is_kept_is_not_read_again() -> None:
    kept = replace(TABLE, workload=replace(TABLE.workload, prefix_hit=1.0))
    assert means(kept).new == pytest.approx((100 + 30 + 30) / 3)


@pytest.mark.parametrize(
    "spread", [Spread(median=2.0, sigma=1.5, most=9.0), Spread(median=2.0, sigma=0.5), Spread(median=3.0)]
)
def test_the_mean_of_a_cut_lognormal_is_that_of_its_draws(spread: Spread) -> None:
    draw = stream(spread, [0])
    values = [draw() for _ in range(200_000)]
    assert mean(spread) == pytest.approx(float(np.mean(values)), rel=0.01)
    assert max(values) <= spread.most


@pytest.mark.parametrize("mode", ["sync", "async", "partial"])
@pytest.mark.parametrize("gpus", [3, 8, 20])
def test_no_other_split_is_better_in_the_closed_form(mode: Mode, gpus: int) -> None:
    table = read_table(H100)
    average, curve = means(table), fit_curve(table.serving.points)
    plan = Plan(gpus=gpus, learning=1, environments=100_000, batch=1024, mode=mode)
    best = split(table, plan, average)
    speed = rates(table, best, average, curve).most(mode)
    for judging in range(1, gpus):
        for learning in [gpus - judging] if mode == "sync" else range(1, gpus - judging):
            other = replace(plan, judging=judging, learning=learning)
            if other.serving >= 1:
                assert rates(table, other, average, curve).most(mode) <= speed * 1.0001


def test_one_gpu_cannot_serve_and_learn_at_once() -> None:
    with pytest.raises(UserError, match="at least 2 GPUs"):
        split(TABLE, replace(PLAN, gpus=1), means(TABLE))
    assert split(TABLE, replace(PLAN, gpus=1, mode="sync"), means(TABLE)).learning == 1
