"""Counting: answers are what Pascal's triangle, recursion and trying all choices give."""

import re
from fractions import Fraction
from functools import cache

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, numbers, quoted

PASCAL = [[1]]
while len(PASCAL) <= 160:
    PASCAL.append([1, *(a + b for a, b in zip(PASCAL[-1], PASCAL[-1][1:], strict=False)), 1])


def choose(total: int, chosen: int) -> int:
    return PASCAL[total][chosen] if 0 <= chosen <= total else 0


def coins(question: str, level: int) -> int:
    given = numbers(question)
    if level == 1:
        return max(given) // min(given)
    if level == 5:
        limit, things = given[0], list(zip(given[1::2], given[2::2], strict=True))
        assert len(things) == 12
        best = 0
        for chosen in range(2 ** len(things)):
            picked = [thing for place, thing in enumerate(things) if chosen >> place & 1]
            if sum(weight for _, weight in picked) <= limit:
                best = max(best, sum(value for value, _ in picked))
        return best
    total = int(re.search(r"make (\d+) cents", question)[1])
    given.remove(total)
    kinds = tuple(given)
    if level == 3:
        amounts, steps = {0}, 0
        while total not in amounts:
            amounts, steps = (
                {amount + kind for amount in amounts for kind in kinds if amount + kind <= total},
                steps + 1,
            )
        return steps

    @cache
    def ways(left: int, usable: int) -> int:
        if usable == 0:
            return int(left == 0)
        return sum(ways(rest, usable - 1) for rest in range(left, -1, -kinds[usable - 1]))

    return ways(total, len(kinds))


def choices(question: str, level: int) -> int:
    given = numbers(question)
    if level == 1:
        return choose(max(given), min(given))
    if level == 2:
        left, value = list("".join(quoted(question))), 1
        while left:
            times = left.count(left[0])
            value *= choose(len(left), times)
            left = [letter for letter in left if letter != left[0]]
        return value
    if level == 3:
        size, women, men, least = given
        return sum(choose(women, k) * choose(men, size - k) for k in range(least, size + 1))
    if level == 4:
        length, low, high, total = given

        @cache
        def lists(length: int, total: int) -> int:
            if length == 0 or total < 0:
                return int(length == 0 and total == 0)
            return sum(lists(length - 1, total - first) for first in range(low, high + 1))

        return lists(length, total)
    people, fixed = given
    astray = 1
    for n in range(1, people - fixed + 1):
        astray = astray * n + (-1) ** n
    return choose(people, fixed) * astray


def probability(question: str, level: int) -> Fraction:
    given = numbers(question)
    if level == 1:
        return Fraction(len(range(given[2], given[1] + 1)), given[1])
    if level == 2:
        _, first, _, second, wanted = given
        return Fraction(sum(a + b == wanted for a in range(1, first + 1) for b in range(1, second + 1)), first * second)
    if level == 3:
        red, blue, drawn, wanted = given

        @cache
        def urn(red: int, blue: int, drawn: int, wanted: int) -> Fraction:
            if drawn == 0 or wanted < 0:
                return Fraction(int(drawn == wanted == 0))
            chance = Fraction(red, red + blue)
            taken = chance * urn(red - 1, blue, drawn - 1, wanted - 1) if red else Fraction(0)
            return taken + ((1 - chance) * urn(red, blue - 1, drawn - 1, wanted) if blue else 0)

        return urn(red, blue, drawn, wanted)
    if level == 4:
        dice, _, sides, least = given
        one = [Fraction(1, sides)] * sides
    else:
        above, below, dice, least = given
        one = [1 - Fraction(above, below), Fraction(above, below)]

    @cache
    def at_least(rolls: int, wanted: int) -> Fraction:
        if rolls == 0:
            return Fraction(int(wanted <= 0))
        return sum(
            (chance * at_least(rolls - 1, wanted - shown) for shown, chance in enumerate(one, int(level == 4))),
            Fraction(0),
        )

    return at_least(dice, least)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reckon", [coins, choices, probability], ids=lambda reckon: reckon.__name__)
def test_answers(reckon, level):
    agree(reckon.__name__, level, reckon, count=20 if (reckon, level) == (coins, 5) else 50)
