"""Verdicts on mathematical answers that need no process: the same text, words and choices, plain numbers."""

import itertools
import re

from claw_envs.toolcall.answers.notation import WORDS, key, number, tidy
from claw_envs.toolcall.answers.quantity import Quantity, clash, quantity
from claw_envs.toolcall.answers.verdict import Verdict

_CHOICE = re.compile(r"\(?([A-Z])\)?")
_CHOSEN = re.compile(r"\(([A-Z])\)(?![-,(+*/^=_]).*|([A-Z])(?:[.:)].*)?", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")
_MAX_DEPTH = 100
_SHORT_WORDS = {"no", "yes", "odd", "all", "any", "both"}


def quick(gold: str, answer: str) -> Verdict | None:
    """Whether `answer` is `gold`, where that is plain to see; None where it takes mathematics."""
    one, other = tidy(gold), tidy(answer)
    if key(one) == key(other):
        return Verdict(True, "the same")
    if not key(other):
        return Verdict(False, "the answer is empty")
    if _depth(other) > _MAX_DEPTH:
        return Verdict(False, f"the answer is nested more than {_MAX_DEPTH} deep")
    choice = _CHOICE.fullmatch(key(one))
    if choice:
        chosen = _CHOSEN.fullmatch(key(other))
        return _verdict(bool(chosen) and choice[1] in chosen.groups(), "choice") if chosen else None
    if are_words(one):
        return _verdict(key(one).casefold() == key(other).casefold(), "words")
    return _numbers(quantity(one), quantity(other))


def _depth(text: str) -> int:
    depths = itertools.accumulate((character in "([{") - (character in ")]}") for character in text)
    return max(depths, default=0)


def are_words(tidied: str) -> bool:
    """Whether an answer is no formula but words, of which the letters are not factors."""
    text = key(tidied)
    if not _LETTERS.fullmatch(text):
        return False
    return tidied.lstrip().startswith(WORDS) or len(max(text.split(), key=len)) > 3 or text.lower() in _SHORT_WORDS


def _numbers(gold: Quantity, answer: Quantity) -> Verdict | None:
    one, other = number(gold.body), number(answer.body)
    if one is None or other is None:
        return None
    if clash(gold, answer):
        return Verdict(False, f"in {answer.unit} and not in {gold.unit}")
    if gold.percent == answer.percent:
        return _verdict(one == other, "number")
    if gold.percent:
        return _verdict(one in (other, 100 * other), "number")
    return _verdict(other == 100 * one or (other == one and abs(one) > 1), "number")


def _verdict(correct: bool, what: str) -> Verdict:
    return Verdict(correct, f"the same {what}" if correct else f"another {what}")
