import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from trainers import advantages as adv

NAN = float("nan")


def test_step_rewards_add_the_outcome_to_each_score_and_leave_out_abstentions() -> None:
    assert_allclose(adv.step_rewards(1.0, [1.0, None, -1.0]), [2.0, 1.0, 0.0])
    assert_allclose(adv.step_rewards(-1.0, [1.0, NAN], process_weight=0.0), [-1.0, -1.0])


def test_a_judge_that_could_not_be_asked_leaves_its_step_out() -> None:
    assert_allclose(adv.step_rewards(1.0, [NAN, 0.5]), [NAN, 1.5])


def test_step_index_compares_only_attempts_of_one_group_at_one_step() -> None:
    groups = ["a", "a", "a", "a", "b", "b"]
    steps = [0, 0, 1, 1, 0, 0]
    rewards = [1.0, 3.0, 5.0, 9.0, -1.0, 0.0]
    assert_allclose(adv.step_index(groups, steps, rewards), [-1, 1, -1, 1, -1, 1], rtol=1e-5)


def test_step_index_uses_the_population_deviation() -> None:
    values = adv.step_index(["g"] * 3, [0, 0, 0], [0.0, 0.0, 3.0])
    deviation = math.sqrt(2.0)  # of 0, 0, 3 about their mean 1
    assert_allclose(values, [-1 / deviation, -1 / deviation, 2 / deviation], rtol=1e-5)


def test_step_index_of_ragged_lengths_keeps_a_lone_longest_attempt_raw() -> None:
    values = adv.step_index(["g", "g", "g"], [0, 0, 1], [1.0, -1.0, -0.5])
    assert_allclose(values, [1.0, -1.0, -0.5], rtol=1e-5)


def test_step_index_drops_a_bucket_of_equal_rewards() -> None:
    assert np.isnan(adv.step_index(["g", "g"], [2, 2], [0.7, 0.7])).all()


def test_an_aborted_sample_changes_no_mean_and_stays_out() -> None:
    with_aborted = adv.step_index(["g"] * 3, [0, 0, 0], [1.0, NAN, 3.0])
    assert np.isnan(with_aborted[1])
    assert_allclose(with_aborted[[0, 2]], adv.step_index(["g"] * 2, [0, 0], [1.0, 3.0]))
    assert_allclose(adv.rloo(["g"] * 3, [1.0, NAN, 3.0])[[0, 2]], [-2.0, 2.0])
    assert np.isnan(adv.grpo(["g"] * 3, [1.0, NAN, 3.0])[1])


def test_grpo_normalises_within_the_group() -> None:
    assert_allclose(adv.grpo(["a", "a", "b", "b"], [0.0, 1.0, 10.0, 30.0]), [-1, 1, -1, 1], rtol=1e-5)


def test_rloo_subtracts_the_mean_of_the_others() -> None:
    assert_allclose(adv.rloo(["g"] * 3 + ["h"], [3.0, 0.0, 0.0, 5.0]), [3.0, -1.5, -1.5, 5.0])


def test_reinforce_baseline_centres_by_group_and_scales_by_the_batch() -> None:
    values = adv.reinforce_baseline(["a", "a", "b", "b"], [1.0, 3.0, 10.0, 10.0])
    scale = math.sqrt(0.5)  # of -1, 1, 0, 0
    assert_allclose(values, [-1 / scale, 1 / scale, 0, 0], atol=1e-5)


def test_binary_gives_the_score_to_every_token() -> None:
    assert_allclose(adv.binary(-1.0, 3), [-1.0, -1.0, -1.0])


def test_opd_is_teacher_minus_old_from_the_first_token_on() -> None:
    assert_allclose(adv.opd([-1.0, -4.0, -2.0], [-3.0, -1.0, -2.0]), [2.0, -3.0, 0.0])
    assert_allclose(adv.opd([-1.0, -9.0], [-3.0, -1.0], clip=1.5), [1.5, -1.5])


def test_the_divergence_is_the_baseline_that_makes_the_expected_advantage_zero() -> None:
    student, teacher = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.6, 0.3])
    kl = float((student * np.log(student / teacher)).sum())
    advantages = adv.opd(np.log(teacher), np.log(student), divergence=np.full(3, kl))
    assert_allclose((student * advantages).sum(), 0.0, atol=1e-12)
    assert_allclose(advantages, np.log(teacher / student) + kl)


def test_combined_weighs_both() -> None:
    assert_allclose(adv.combined(-1.0, [2.0, 0.0], binary_weight=0.5, opd_weight=2.0), [3.5, -0.5])


def test_topk_is_zero_for_equal_distributions_and_the_exact_divergence_where_k_covers_all() -> None:
    teacher, student = np.log([[0.5, 0.3]]), np.log([[0.2, 0.6]])
    assert_allclose(adv.topk(teacher, teacher), [0.0], atol=1e-12)
    expected = 0.2 * math.log(0.2 / 0.5) + 0.6 * math.log(0.6 / 0.3) + 0.2 * math.log(0.2 / 0.2)
    assert_allclose(adv.topk(teacher, student), [expected])


def test_spread_repeats_each_step_over_its_tokens() -> None:
    assert_allclose(adv.spread([1.0, -2.0], [2, 3]), [1, 1, -2, -2, -2])


def test_lengths_that_disagree_are_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        adv.step_index(["g"], [0, 1], [1.0, 2.0])
