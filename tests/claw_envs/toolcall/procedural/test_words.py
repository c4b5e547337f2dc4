"""Text: answers are what counting letter by letter and looking up in a shifted alphabet give."""

import re
import string
from collections import Counter

import pytest

from claw_envs.toolcall.procedural.vocabulary import WORDS
from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, numbers, quoted

ALPHABET = string.ascii_lowercase


def letters(question: str, level: int) -> int:
    line = quoted(question)[-1]
    counts = Counter(line.replace(" ", ""))
    if level == 1 and "occur" not in question:
        return sum(counts.values())
    if level <= 2:
        return counts[quoted(question)[0]]
    if level == 3:
        return counts["a"] + counts["e"] + counts["i"] + counts["o"] + counts["u"]
    if level == 4:
        return len([letter for letter, times in counts.items() if times % 2 == 1])
    return sum(
        (ALPHABET.index(word[place]) + 1) * (place + 1) for word in line.split(" ") for place in range(len(word))
    )


def rewrite(question: str, level: int) -> str:
    line = quoted(question)[0]
    if level == 1:
        if "backwards" in question:
            return "".join(reversed(line))
        if "twice" in question:
            return line + line
        return line[0] + line[1] + line[2] if "first three" in question else "".join(list(line)[len(line) - 4 :])
    if level == 3:
        step = numbers(question)[0]
        return "".join(letter for place, letter in enumerate(line, 1) if place % step == 0)
    shifts = [numbers(question)[-1]]
    if level == 4:
        line = "".join("".join(reversed(word)) for word in sorted(line.split()))
    if level == 5:
        shifts = [ALPHABET.index(letter) for letter in quoted(question)[1]]
    repeated = shifts * len(line)
    tables = [dict(zip(ALPHABET, ALPHABET[shift:] + ALPHABET[:shift], strict=True)) for shift in repeated[: len(line)]]
    return "".join(table[letter] for table, letter in zip(tables, line, strict=True))


def order(question: str, level: int) -> str:
    words = [word for word in re.findall("[a-z]+", question) if word in WORDS]
    assert len(words) == (3, 8, 14, 18, 25)[level - 1]
    key = {3: lambda word: f"{len(word):02d}{word}", 4: lambda word: word[::-1], 5: lambda word: word[::-1]}
    rank = {sum(key.get(level, str)(other) <= key.get(level, str)(word) for other in words): word for word in words}
    if level == 1:
        return rank[1 if "first" in question else 3]
    if level == 5:
        return "".join(rank[place][0] for place in range(1, 26))
    return rank[numbers(question)[0]]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reckon", [letters, rewrite, order], ids=lambda reckon: reckon.__name__)
def test_answers(reckon, level):
    agree(reckon.__name__, level, reckon)


def test_words_are_different_and_plain():
    assert len(set(WORDS)) == len(WORDS) > 200
    assert all(set(word) <= set(ALPHABET) and len(word) >= 4 for word in WORDS)
