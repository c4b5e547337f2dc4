"""The fit of an engine's curve and the learner's time."""

from itertools import pairwise

import pytest

from evals.perf.scale.curve import fit_curve, fit_errors, update_seconds
from evals.perf.scale.table import H100, LearnerPoint, Learning, Point, read_table
from tests.evals.perf.scale.tables import CURVE, TABLE


def test_points_of_a_curve_give_the_curve_back() -> None:
    curve = fit_curve(TABLE.serving.points)
    assert curve == pytest.approx(CURVE)
    assert fit_errors(curve, TABLE.serving.points) == pytest.approx([0.0] * 4, abs=1e-9)


def test_no_cost_is_negative_even_where_that_would_fit_better() -> None:
    points = [
        Point(prompt=0, response=10, concurrent=n, tokens_per_second=speed)
        for n, speed in ((1, 10.0), (2, 25.0), (4, 70.0))
    ]
    assert min(fit_curve(points)) >= 0


def test_the_published_points_are_met_within_a_twentieth() -> None:
    points = read_table(H100).serving.points
    assert max(abs(error) for error in fit_errors(fit_curve(points), points)) < 0.05


def test_an_engine_saturates() -> None:
    speeds = [CURVE.requests_per_second(100, 50, n, new=100) for n in (1, 2, 4, 8, 16, 32)]
    gains = [later / earlier for earlier, later in pairwise(speeds)]
    assert min(gains) > 1
    assert gains == sorted(gains, reverse=True)


def test_an_update_takes_its_tokens_shared_out_or_its_longest_sequence() -> None:
    learning = Learning(points=[LearnerPoint(gpus=1, tokens_per_second=100.0)], passes=2.0, fixed_s=1.0)
    assert update_seconds(learning, 1, 1000, 200) == pytest.approx(1 + 2 * 1000 / 100)
    assert update_seconds(learning, 4, 1000, 200) == pytest.approx(1 + 2 * 250 / 100)
    assert update_seconds(learning, 50, 1000, 200) == pytest.approx(1 + 2 * 200 / 100)


def test_two_points_say_how_well_the_learner_scales() -> None:
    learning = Learning(
        points=[LearnerPoint(gpus=8, tokens_per_second=100.0), LearnerPoint(gpus=32, tokens_per_second=50.0)]
    )
    assert update_seconds(learning, 8, 8000, 0) == pytest.approx(10)
    assert update_seconds(learning, 32, 8000, 0) == pytest.approx(8000 / 32 / 50)
    assert update_seconds(learning, 128, 8000, 0) == pytest.approx(8000 / 128 / 25)
