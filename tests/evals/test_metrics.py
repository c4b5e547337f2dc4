"""Estimators against values worked out by hand or published."""

import itertools

import pytest

from evals.metrics import (
    Stratum,
    effective_size,
    mean,
    pass_at_k,
    stratified_interval,
    stratified_mean,
    wilson_interval,
)


def test_mean_is_exact_where_a_running_sum_is_not() -> None:
    assert mean([1e16, 1.0, -1e16]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 10, 0.0, 0.277533),
        (5, 10, 0.236593, 0.763407),
        (10, 10, 0.722467, 1.0),
        (81, 263, 0.255256, 0.366182),  # Newcombe, Statistics in Medicine 17 (1998), table I, method 3: .2553 .3662
        (15, 148, 0.062387, 0.160469),  # the same: .0624 .1605
    ],
)
def test_wilson_interval(successes: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=1e-4)


def test_bootstrap_is_repeatable_and_close_to_the_normal_interval() -> None:
    values = [0.0, 0.25, 0.5, 0.75, 1.0] * 40
    low, high = stratified_interval([Stratum(1.0, values)], seed=3)
    assert (low, high) == stratified_interval([Stratum(1.0, values)], seed=3)
    half = 1.96 * (0.125 / 200) ** 0.5  # population variance .125, n = 200
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), abs=0.005)
    assert stratified_interval([Stratum(1.0, [0.5])]) == (0.5, 0.5)


def test_strata_weigh_what_they_are_said_to() -> None:
    many, few = Stratum(1.0, [0.0, 1.0] * 50), Stratum(3.0, [0.5, 1.0, 1.0, 1.0])
    assert stratified_mean([many, few]) == pytest.approx((0.5 + 3 * 0.875) / 4)
    low, high = stratified_interval([many, few], seed=3)
    half = 1.96 * ((0.25 / 100) / 16 + (0.046875 / 4) * 9 / 16) ** 0.5  # weights 1/4 and 3/4, population variances
    assert high - low == pytest.approx(2 * half, rel=0.15)
    assert stratified_interval([Stratum(7.0, many.values)]) == stratified_interval([Stratum(1.0, many.values)])


def test_the_effective_size_is_that_of_values_that_weigh_the_same() -> None:
    assert effective_size([Stratum(5.0, [1.0] * 7)]) == pytest.approx(7)
    assert effective_size([Stratum(1.0, [1.0] * 10), Stratum(3.0, [0.0] * 30)]) == pytest.approx(40)
    assert effective_size([Stratum(1.0, [1.0] * 1000), Stratum(1.0, [0.0])]) == pytest.approx(4 / 1.001)


def test_strata_are_drawn_from_one_by_one() -> None:
    assert stratified_interval([Stratum(1.0, [0.0] * 5), Stratum(1.0, [1.0] * 5)]) == (0.5, 0.5)


@pytest.mark.parametrize(("n", "c", "k"), [(4, 1, 2), (5, 2, 3), (6, 6, 1), (6, 0, 4), (5, 4, 3)])
def test_pass_at_k_is_the_share_of_subsets_with_a_success(n: int, c: int, k: int) -> None:
    subsets = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson_interval(3, 2)
    with pytest.raises(ValueError, match="1 <= k <= n"):
        pass_at_k(3, 1, 4)
    with pytest.raises(ValueError, match="no values"):
        mean([])
    with pytest.raises(ValueError, match="no values"):
        stratified_interval([])
    with pytest.raises(ValueError, match="no values"):
        stratified_mean([Stratum(1.0, [1.0]), Stratum(1.0, [])])
    with pytest.raises(ValueError, match="weights sum up to nothing"):
        stratified_mean([Stratum(0.0, [1.0])])
