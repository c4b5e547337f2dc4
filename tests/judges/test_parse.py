"""Reading a judge's model's reply."""

import pytest

from judges.parse import hint_vote, vote


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (r"\boxed{1}", 1.0),
        (r"The user complains.\n" + "\n" + r"Answer: \boxed{-1}", -1.0),
        (r"\boxed{ +1 }.", 1.0),
        (r"**\boxed{0}**", 0.0),
        ("\\[\n\\boxed{1}\n\\]\n", 1.0),
        ("```\n\\boxed{-1}\n```", -1.0),
        ("You asked for \\boxed{1}, \\boxed{-1} or \\boxed{0}.\nIt went well.\n\\boxed{1}", 1.0),
        ("\\boxed{1}\n\\boxed{-1}", -1.0),
        (r"\boxed{1} and again \boxed{1}", 1.0),
        (r"\boxed{1} or \boxed{-1}", None),
        (r"\boxed{2}", None),
        (r"\boxed{1}" + "\nThat is my answer.", None),
        ("1", None),
        ("boxed{1}", None),
        (r"\boxed{}", None),
        (r"\boxed{1.5}", None),
        ("", None),
        ("\n \n", None),
    ],
)
def test_only_the_last_line_counts(reply: str, expected: float | None) -> None:
    assert vote(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("[HINT_START] Keep it\n short. [HINT_END]\n\\boxed{1}", (1.0, "Keep it short.")),
        ("So:\n\\boxed{1}\n[HINT_START]Keep it short.[HINT_END]", (1.0, "Keep it short.")),
        ("[HINT_START]old[HINT_END] no:\n[HINT_START]new[HINT_END] \\boxed{1}", (1.0, "new")),
        ("Nothing to learn.\n\\boxed{-1}", (-1.0, None)),
        ("[HINT_START]Keep it short.[HINT_END]\n\\boxed{-1}", (-1.0, None)),
        ("[HINT_START]Keep it short.[HINT_END]\nQuoted, but:\n\\boxed{1}", (None, None)),
        ("[HINT_START]Keep it short.[HINT_END]\nQuoted, but there is\nnothing:\n\\boxed{-1}", (-1.0, None)),
        ("[HINT_START]Keep it short.\n\\boxed{1}", (None, None)),
        ("[HINT_START][HINT_END]\n\\boxed{1}", (None, None)),
        ("\\boxed{1}", (None, None)),
        ("[HINT_START]Keep it short.[HINT_END]", (None, None)),
        ("", (None, None)),
    ],
)
def test_a_hint_stands_next_to_its_vote(reply: str, expected: tuple[float | None, str | None]) -> None:
    assert hint_vote(reply) == expected
