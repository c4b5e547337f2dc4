"""Readings of users' reactions: labelled sentences, and everything that the scripted users and the problems say."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.tasksets import builtin
from judges.reactions import read_reaction

LABELLED = [json.loads(line) for line in Path(__file__).with_name("reactions.jsonl").read_text().splitlines()]
PHRASES = json.loads((builtin("chat") / "phrases.json").read_text())
PROBLEMS = [json.loads(line) for line in (builtin("chat") / "problems.jsonl").read_text().splitlines()]
SCORES = {"thanks": 1, "reask": -1, "vague": -1, "correction": -1, "wrong": -1, "unrelated": 0}


@pytest.mark.parametrize("row", LABELLED, ids=lambda row: row["text"])
def test_a_labelled_sentence(row: dict[str, Any]) -> None:
    reaction = read_reaction(row["text"])
    assert reaction.score == row["score"]
    if "hint" in row:
        assert reaction.hint == row["hint"]
    if row["score"] >= 0:
        assert reaction.hint is None


@pytest.mark.parametrize("persona", ["student", "teacher"])
@pytest.mark.parametrize("kind", SCORES)
def test_what_the_scripted_users_say(persona: str, kind: str) -> None:
    for wording in PHRASES[persona][kind]:
        for problem in PROBLEMS[:10]:
            said = wording.replace("{question}", problem["question"]).replace("{answer}", str(problem["answer"]))
            said = said.replace("{name}", "Maria")
            reaction = read_reaction(said, earlier=[problem["question"]])
            assert reaction.score == SCORES[kind], said
            assert (reaction.hint is not None) == (kind in ("correction", "wrong")), said
            if persona == "student" and reaction.hint:
                assert said.endswith(reaction.hint)


def test_a_new_problem_says_nothing_of_the_reply() -> None:
    for before, problem in pairwise(PROBLEMS):
        assert read_reaction(problem["question"], earlier=[before["question"]]).score == 0, problem


def test_the_same_question_again() -> None:
    question = "Tom has 12 apples and eats 3. How many are left?"
    assert read_reaction(question).score == 0
    assert read_reaction(question, earlier=["Hello", question]).score == -1
    assert read_reaction("so, tom has 12 apples and eats 3 - how many are left??", earlier=[question]).score == -1


@pytest.mark.parametrize(
    "text",
    [
        "Teacher marked it wrong, it's 56.",
        "You added instead of multiplying.",
        "Could I get that in a sentence?",
        "You're overcomplicating it.",
    ],
)
def test_known_misses_read_as_neither(text: str) -> None:
    """Discontent that the patterns do not know: a miss, which must at least not read as content."""
    assert read_reaction(text).score == 0


@pytest.mark.parametrize("text", ["", "  \n"])
def test_silence_is_no_reaction(text: str) -> None:
    assert read_reaction(text).score is None


@pytest.mark.parametrize(
    "piece", ["no ", "how many ", "a, ", "thanks ", "please just ", "that's not ", "too so ", "\n"]
)
def test_a_flood_does_not_hold_the_judge_up(piece: str) -> None:
    assert read_reaction(piece * 100_000).score in (None, -1.0, 0.0, 1.0)


def test_hints_of_several_sentences_leave_out_the_rest() -> None:
    reaction = read_reaction("That looks odd.\nPlease keep it short. Also my cat is called Tom. Don't use lists!")
    assert reaction.hint == "Please keep it short. Don't use lists!"
