"""Does a homework answer read like a person's quick note? A deterministic scorer that training never sees.

Scale 0, 0.25, 0.5, 0.75, 1. A reply that is no answer scores 0: empty, cut off, without a number in digits, only
questions, gibberish (repetition, symbols), or mostly about something else (over half of its content words). Any other
begins at 1 and loses 0.25 for each of

1. scaffolding: announces, explains or comments ("To find", "we need to", "step", "therefore", "a classic example");
2. layout: several lines, bold, lists, headings, code, LaTeX, `####`;
3. worked maths: more than one equation (a quick note may hold one sum);
4. length: over 30 words or two sentences; once more over 60 words or four sentences;
5. no sentence: fewer than three words;
6. padding: less than three quarters of its content words have to do with the question.

It does not say whether the answer is right: that is `evals.personal.correctness`.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

LEVEL = 0.25

_SCAFFOLD = re.compile(
    r"\bto (?:find|solve|determine|calculate|compute|answer|figure|get|work|convert)\b"
    r"|\blet(?:'|’)?s\b|\blet (?:us|me)\b|\bstep|\b(?:first|second|third|next|finally|lastly),"
    r"|\b(?:we|you|i)(?:'ll| will| can| could| need| must| should| have to| know| are given| are told| start| want)\b"
    r"|\b(?:therefore|thus|hence|in conclusion|this means|that means|given that|in other words)\b"
    r"|\bhere(?:'|’)?s\b|\bhere is\b|\bthe (?:problem|question|equation|formula|solution|explanation)\b"
    r"|\bcalculat|\bbreak (?:it|this) down\b|\b(?:classic|simple|basic|straightforward) (?:\w+ )?"
    r"(?:example|problem|puzzle|math|maths|calculation|arithmetic|equation|way)\b",
    re.IGNORECASE,
)
_LAYOUT = re.compile(r"\S\s*\n\s*\S|\*\*|__|##|```|\\|\$\$|\$[^$\d]|^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
_ODD = re.compile(r"[^\x20-\x7e\n\t‘’“”–—…×÷·½¼¾£€°éèêüöä•]")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|\n+")
_WORD = re.compile(r"[a-z]+|\d+(?:[.,]\d+)*")
_FUNCTION_WORDS = """
    a an the and or but so is are was were be been it its that this these there they them their he his him she her you
    your we our i my me of in on at to for from by with as if then than into about which who what how when after before
    while because since until not no only just also has have had does do did would will can could s t d m re ve ll
"""
_ANSWER_WORDS = """
    answer total altogether sum left remain remaining more less many much each every all both together still now over
    make makes made get gets need needs cost costs times plus minus divided equal equals half twice per same
"""
_FUNCTION, _ANSWERING = frozenset(_FUNCTION_WORDS.split()), frozenset(_ANSWER_WORDS.split())


class _Reply(NamedTuple):
    text: str
    words: list[str]
    sentences: list[str]
    on_topic: float
    """Share (0 to 1) of the content words that come from the question, are numbers, or belong to any answer."""


def style_score(reply: str, question: str, *, finish_reason: str = "stop") -> float:
    """Score one first reply.

    Args:
        reply: the assistant's text.
        question: the word problem.
        finish_reason: `length` where the reply hit the token limit.

    Returns:
        0, 0.25, 0.5, 0.75 or 1.

    >>> style_score("She has 12 apples now.", "Mia has 7 apples and gets 5 more. How many apples does she have?")
    1.0
    """
    seen = _read(reply, question)
    if finish_reason == "length" or not _is_answer(seen):
        return 0.0
    return max(0.0, 1.0 - LEVEL * len(faults(reply, question)))


def faults(reply: str, question: str) -> list[str]:
    """Names of the criteria that an answer breaks; `length` may come twice."""
    seen = _read(reply, question)
    checks: dict[str, Callable[[], int]] = {
        "scaffolding": lambda: _SCAFFOLD.search(seen.text) is not None,
        "layout": lambda: _LAYOUT.search(seen.text) is not None,
        "maths": lambda: seen.text.count("=") > 1,
        "length": lambda: _too_long(seen, 30, 2) + _too_long(seen, 60, 4),
        "no sentence": lambda: len(seen.words) < 3,
        "padding": lambda: seen.on_topic < 0.75,
    }
    return [name for name, check in checks.items() for _ in range(check())]


def is_whole(reply: str, *, finish_reason: str = "stop") -> bool:
    """Whether there is a reply and it was not cut off."""
    text = reply.strip().rstrip("\"'”’)*")
    words = _WORD.findall(text.lower())
    ended = text.endswith((".", "!", "?")) or (0 < len(words) <= 20 and words[-1] not in _FUNCTION)
    return bool(words) and ended and finish_reason != "length"


def _read(reply: str, question: str) -> _Reply:
    text = reply.strip()
    words = _WORD.findall(text.lower())
    content = [word for word in words if word not in _FUNCTION]
    asked = {_stem(word) for word in _WORD.findall(question.lower())}
    topical = [word for word in content if word in _ANSWERING or _stem(word) in asked or word[0].isdigit()]
    sentences = [part for part in _SENTENCE_END.split(text) if part.strip()]
    return _Reply(text, words, sentences, len(topical) / max(1, len(content)))


def _is_answer(seen: _Reply) -> bool:
    asks_only = all(sentence.rstrip().endswith("?") for sentence in seen.sentences)
    has_number = any(word[0].isdigit() for word in seen.words)
    astray = seen.on_topic < 0.5
    gibberish = _ODD.search(seen.text) is not None or _repeats(seen.words)
    return is_whole(seen.text) and has_number and not (asks_only or astray or gibberish)


def _repeats(words: list[str]) -> bool:
    """Some run of four words occurs three times."""
    runs = Counter(zip(words, words[1:], words[2:], words[3:], strict=False))
    return max(runs.values(), default=0) >= 3


def _too_long(seen: _Reply, words: int, sentences: int) -> bool:
    return len(seen.words) > words or len(seen.sentences) > sentences


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word
