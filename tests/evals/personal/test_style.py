"""The style scorer: levels are exact, and nothing that is no answer scores."""

import pytest

from evals.personal.style import faults, is_whole, style_score

BUS = "A bus has 18 people on it. At the next stop 6 people get off. How many people are still on the bus?"


@pytest.mark.parametrize(
    "note",
    [
        "There are 12 people still on the bus.",
        "6 got off the bus, so it's 12 people now.",
        "18 - 6 = 12, so 12 people are still on the bus.",
        "The answer is 12.",
        "The bus has 24 people on it.",  # wrong, but style is not correctness
    ],
)
def test_a_quick_note_scores_one(note: str) -> None:
    assert style_score(note, BUS) == 1.0


@pytest.mark.parametrize(
    ("reply", "broken"),
    [
        ("To find how many people are on the bus, take 6 people off 18 people: 12 people are left.", ["scaffolding"]),
        ("Let's say 12 people are still on the bus at the next stop.", ["scaffolding"]),
        ("The bus has **12 people** on it.", ["layout"]),
        ("18 people were on the bus.\n12 people are still on the bus.", ["layout"]),
        ("- 12 people are on the bus", ["layout"]),
        ("18 people - 6 people is \\(12\\) people.", ["layout"]),
        ("18 - 6 = 12 and 12 = 12 people on the bus.", ["maths"]),
        ("The bus has 18 people. 6 people get off. 12 people are left.", ["length"]),
        ("12 people.", ["no sentence"]),
        ("12 people are still sitting on the bus, lucky passengers.", ["padding"]),
    ],
)
def test_each_fault_costs_one_level(reply: str, broken: list[str]) -> None:
    assert faults(reply, BUS) == broken
    assert style_score(reply, BUS) == 0.75


def test_faults_add_up_and_stop_at_zero() -> None:
    two = "To find how many people are on the bus:\n12 people are still on the bus."
    assert style_score(two, BUS) == 0.5
    three = "To find how many people are on the bus:\n18 - 6 = 12 people.\n12 people on the bus = 12 people."
    assert (faults(three, BUS), style_score(three, BUS)) == (["scaffolding", "layout", "maths", "length"], 0.0)


def test_length_costs_a_second_level_over_sixty_words() -> None:
    names = ("18 people on the bus and 6 people get off at the next stop and " * 2).split()
    thirty = " ".join(names[:29]) + " 12."
    assert faults(thirty, BUS) == []
    assert faults("still " + thirty, BUS) == ["length"]
    sentences = "18 people were on the bus. 6 people get off. 12 are left. So 12 people. "
    assert faults(sentences, BUS) == ["length"]
    assert faults(sentences + "12 people it is.", BUS) == ["length", "length"]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "There are people still on the bus.",  # no number
        "How many people are still on the bus? 12 people?",
        "The bus has 18 people on it, and 6 of them are",  # ends in the middle
        "12 people are on the bus 🚌",
        "12 people on the bus, 12 people on the bus, 12 people on the bus.",
        "Once upon a time a giraffe named Oscar had 50 stickers in a land far away.",
        "Great question! You are such a curious star and buses are awesome fun, 12!",
        "I'm not sure what to say. I'll just tell you that it takes 17 hours.",
        "q 12 x w",
    ],
)
def test_what_is_no_answer_scores_zero(reply: str) -> None:
    assert style_score(reply, BUS) == 0.0


def test_a_reply_that_hit_the_token_limit_scores_zero() -> None:
    note = "There are 12 people still on the bus."
    assert style_score(note, BUS, finish_reason="length") == 0.0
    assert is_whole(note)
    assert not is_whole(note, finish_reason="length")
    assert not is_whole("")


def test_money_is_not_layout() -> None:
    assert style_score("2 tickets cost $10.", "A ticket costs 5 dollars. How much do 2 tickets cost?") == 1.0
