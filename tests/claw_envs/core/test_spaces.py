import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from claw_envs.core.spaces import Unicode

TEXTS = ["", "plain", "naïve\n中文\t🙂👩‍👩‍👧", "\x00\u2028 trailing ", "x" * 64]


@pytest.mark.parametrize("text", TEXTS)
def test_contains_any_valid_text(text: str) -> None:
    assert text in Unicode(64)


@pytest.mark.parametrize("value", ["x" * 65, "\ud800", b"bytes", 3, None, np.array("a"), ["a"]])
def test_rejects_what_is_too_long_unencodable_or_no_string(value: object) -> None:
    assert value not in Unicode(64)


def test_length_zero_holds_only_the_empty_string() -> None:
    assert "" in Unicode(0)
    assert "a" not in Unicode(0)
    assert Unicode(0).sample() == ""


def test_negative_length_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 0"):
        Unicode(-1)


def test_samples_are_contained_repeatable_and_varied() -> None:
    one, other = Unicode(40, seed=3), Unicode(40, seed=3)
    samples = [one.sample() for _ in range(200)]
    assert samples == [other.sample() for _ in range(200)]
    assert all(text in one for text in samples)
    assert len(set(samples)) > 150
    assert any(not text.isascii() for text in samples)


def test_sampling_masks_are_refused() -> None:
    with pytest.raises(ValueError, match="neither mask nor probability"):
        Unicode(4).sample(mask=np.ones(4, dtype=np.int8))


def test_equality_is_by_length() -> None:
    assert Unicode(3) == Unicode(3)
    assert Unicode(3) != Unicode(4)
    assert Unicode(3) != spaces.Text(3)
    assert repr(Unicode(3)) == "Unicode(3)"


def test_batching_keeps_text_intact() -> None:
    single = spaces.Dict({"text": Unicode(64), "code": spaces.Discrete(5)})
    batched = batch_space(single, len(TEXTS))
    items = [{"text": text, "code": np.int64(i % 5)} for i, text in enumerate(TEXTS)]
    batch = concatenate(single, items, create_empty_array(single, len(TEXTS)))
    assert batch["text"] == tuple(TEXTS)
    assert batch in batched
    assert [item["text"] for item in iterate(batched, batch)] == TEXTS
    assert batched.sample() in batched
