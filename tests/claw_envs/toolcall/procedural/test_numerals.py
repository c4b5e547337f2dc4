"""Ways to write numbers: answers read back as the number, and are the only way to write it."""

import re
from itertools import product

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, answer_of, numbers, problems


def patterns(one: str, five: str, ten: str) -> list[str]:
    """How 0 to 9 of a power of ten are written."""
    return ["", one, one * 2, one * 3, one + five, five, five + one, five + one * 2, five + one * 3, one + ten]


HIGH = product(["", "M", "MM", "MMM"], patterns("C", "D", "M"))
ROMAN = {
    "".join([*high, tens, ones]): value
    for value, (high, tens, ones) in enumerate(product(HIGH, patterns("X", "L", "C"), patterns("I", "V", "X")))
}


@pytest.mark.parametrize("level", LEVELS)
def test_roman(level):
    assert (ROMAN["MCMXCIV"], len(ROMAN)) == (1994, 4000)

    def reckon(question: str, level: int) -> int | str:
        if level == 2:
            return next(numeral for numeral, value in ROMAN.items() if value == numbers(question)[0])
        values = [ROMAN[numeral] for numeral in re.findall(r"\b[IVXLCDM]+\b", question)]
        if level == 5:
            return sum(sorted(values)[-3:])
        return next(n for n, v in ROMAN.items() if v == sum(values)) if level == 4 else sum(values)

    agree("roman", level, reckon)


@pytest.mark.parametrize("level", LEVELS)
def test_bases(level):
    for task in problems("bases", level):
        question, answer = task.instruction, answer_of(task)
        base_to = re.search(r"(?:Write it in|Write the product in|number \d+ (?:in|to)) base (\d+)", question)
        base_from = re.search(r"(?:written in|from|is \w+ in) base (\d+)", question)
        given = re.findall(r"\b\w*\d\w*\b", question)
        if level == 1:
            assert int(answer, 2 if "binary" in question else 16) == int(given[0])
        elif level == 2:
            assert answer == int(given[0], int(base_from[1]))
        elif level == 3:
            assert int(answer, int(base_to[1])) == int(given[0])
        else:
            written = re.findall(r"(?:number|Multiply|by) (\w+)", question)
            value = 1
            for factor in written:
                value *= int(factor, int(base_from[1]))
            assert len(written) == (2 if level == 5 else 1)
            assert int(answer, int(base_to[1])) == value
        assert not str(answer).startswith("0")


def test_digits_above_nine_are_explained():
    for task in problems("bases", 3):
        base = int(re.search(r"base (\d+)", task.instruction)[1])
        assert ("Digits from 10 on" in task.instruction) is (base > 10)
        assert base == 10 or base < 10 or f"a to {chr(ord('a') + base - 11)}." in task.instruction
