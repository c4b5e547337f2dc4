import math

import pytest
import torch

from trainers.losses import importance_weight, k3, policy_loss, ppo


def tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_ppo_clips_a_good_token_above_and_a_bad_one_below() -> None:
    ratios, advantages = [1.5, 1.1, 0.5, 1.5], [1.0, 1.0, -1.0, -1.0]
    logprobs = tensor(*(math.log(r) for r in ratios))
    loss, clipped = ppo(logprobs, torch.zeros_like(logprobs), tensor(*advantages))
    torch.testing.assert_close(loss, tensor(-1.28, -1.1, 0.8, 1.5))
    assert clipped.tolist() == [True, False, True, False]


def test_dual_clip_bounds_the_loss_of_a_bad_token() -> None:
    loss, _ = ppo(tensor(math.log(10.0)), tensor(0.0), tensor(-1.0), dual_clip=3.0)
    torch.testing.assert_close(loss, tensor(3.0))


def test_k3_is_zero_at_equality_and_exact_elsewhere() -> None:
    torch.testing.assert_close(k3(tensor(-1.0, -1.0), tensor(-1.0, -2.0)), tensor(0.0, math.exp(-1.0) - 1 + 1))


def test_importance_weight_is_truncated() -> None:
    torch.testing.assert_close(
        importance_weight(tensor(0.0, -1.0), tensor(-5.0, 0.0), cap=2.0), tensor(2.0, math.exp(-1))
    )


def test_token_mean_and_sequence_mean_weigh_a_long_sequence_differently() -> None:
    logprobs, old = torch.zeros(4, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
    advantages, sequence = tensor(1.0, 1.0, 1.0, -1.0), torch.tensor([0, 0, 0, 1])
    by_token, _ = policy_loss(logprobs, old, advantages, sequence)
    by_sequence, _ = policy_loss(logprobs, old, advantages, sequence, aggregation="sequence")
    assert by_token.item() == pytest.approx(-0.5)
    assert by_sequence.item() == pytest.approx(0.0)


def test_nan_tokens_are_left_out_of_value_figures_and_gradient() -> None:
    logprobs = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    advantages = tensor(1.0, float("nan"), 3.0)
    loss, figures = policy_loss(
        logprobs, torch.zeros(3, dtype=torch.float64), advantages, torch.zeros(3, dtype=torch.int64)
    )
    loss.backward()
    assert loss.item() == pytest.approx(-2.0)
    assert figures.tokens == 2
    torch.testing.assert_close(logprobs.grad, tensor(-0.5, 0.0, -1.5))


def test_a_batch_of_nothing_is_a_zero_that_can_be_differentiated() -> None:
    logprobs = torch.zeros(2, requires_grad=True)
    loss, figures = policy_loss(logprobs, torch.zeros(2), torch.full((2,), float("nan")), torch.tensor([0, 0]))
    loss.backward()
    assert loss.item() == 0.0
    assert figures.tokens == 0


def test_micro_batches_add_up_to_the_whole() -> None:
    generator = torch.Generator().manual_seed(0)
    logprobs, old, advantages, reference = (torch.randn(12, generator=generator) for _ in range(4))
    sequence = torch.tensor([0] * 5 + [1] * 4 + [2] * 3)
    for aggregation, count in (("token", 12), ("sequence", 3)):
        options = {"reference": reference, "kl_coef": 0.1, "aggregation": aggregation}
        whole, _ = policy_loss(logprobs, old, advantages, sequence, **options)
        parts = [
            policy_loss(
                logprobs[part],
                old[part],
                advantages[part],
                sequence[part],
                **(options | {"reference": reference[part]}),
                denominator=count,
            )[0]
            for part in (slice(0, 5), slice(5, 12))
        ]
        torch.testing.assert_close(whole, parts[0] + parts[1])
