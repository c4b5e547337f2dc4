"""The final number is found in worked answers and in notes."""

import pytest

from evals.personal.correctness import final_number, is_correct


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("There are 12 people still on the bus.", 12),
        ("12", 12),
        ("She has 12 apples (7 of her own and 5 from her brother).", 12),
        ("(12)", 12),
        ("7 + 5 = 12", 12),
        ("18-6=12.", 12),
        ("18 - 6 is 12", 12),
        ("The total is $1,250.50.", 1250.5),
        ("It dropped to -5 degrees.", -5),
        ("7 + 5 = 12.\n#### 12\nLeftover: 3", 12),
        ("#### 3\nno wait\n#### $1,072", 1072),
        ("So \\boxed{42} of the 50.", 42),
        ("The answer is 12, since 6 of 18 left.", 12),
        ("The answer is: **12** and not 6", 12),
        ("The answer is 18 - 6 = 12.", 12),
        ("First 5 apples, then 7.\nTherefore 12 in the end", 12),
        ("twelve", None),
        ("", None),
    ],
)
def test_final_number(reply: str, number: float | None) -> None:
    assert final_number(reply) == number


def test_is_correct() -> None:
    assert is_correct("That is 12 apples.", 12.0)
    assert not is_correct("That is 13 apples.", 12.0)
    assert not is_correct("No idea.", 0.0)
