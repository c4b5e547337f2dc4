"""Draws are the same everywhere, within their bounds, and cover them."""

from collections import Counter

from claw_envs.toolcall.procedural.draw import Draw


def test_a_seed_gives_the_same_draws_everywhere():
    draw = Draw("product/1/train/0")
    assert [draw.below(1_000) for _ in range(5)] == [531, 374, 197, 197, 833]
    assert draw.sample("abcdefgh", 8) == list("acdehfgb")
    assert draw.numbers(3, -9, 9) == [-6, -9, 4]


def test_draws_stay_within_their_bounds_and_cover_them():
    draw = Draw("bounds")
    assert {draw.between(-2, 2) for _ in range(200)} == {-2, -1, 0, 1, 2}
    assert {draw.choice("abc") for _ in range(200)} == set("abc")
    assert {len(str(draw.digits(3))) for _ in range(200)} == {3}
    assert min(Counter(draw.below(4) for _ in range(4_000)).values()) > 850


def test_samples_are_different_members_in_any_order():
    draw = Draw("samples")
    samples = [draw.sample(range(5), 3) for _ in range(300)]
    assert all(len(set(sample)) == 3 for sample in samples)
    assert {sample[0] for sample in samples} == set(range(5))
