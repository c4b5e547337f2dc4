"""Arithmetic: answers are what long multiplication, a parser and integer fractions give."""

import re
from fractions import Fraction

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, numbers


def long_multiplication(one: int, other: int) -> int:
    places = [0] * (len(str(one)) + len(str(other)))
    for i, a in enumerate(reversed(str(one))):
        for j, b in enumerate(reversed(str(other))):
            places[i + j] += int(a) * int(b)
    for i in range(len(places) - 1):
        places[i + 1] += places[i] // 10
        places[i] %= 10
    return int("".join(map(str, reversed(places))))


def product(question: str, level: int) -> int:
    value = 1
    for factor in numbers(question):
        value = long_multiplication(value, factor)
    return value


def expression(question: str, level: int) -> int:
    tokens = re.findall(r"\d+|[-+*^()]", question)

    def total() -> int:
        value = term()
        while tokens and tokens[0] in "+-":
            value = value + term() if tokens.pop(0) == "+" else value - term()
        return value

    def term() -> int:
        value = power()
        while tokens and tokens[0] == "*":
            tokens.pop(0)
            value *= power()
        return value

    def power() -> int:
        token = tokens.pop(0)
        if token == "(":
            base = total()
            assert tokens.pop(0) == ")"
        else:
            base = int(token)
        if tokens and tokens[0] == "^":
            tokens.pop(0)
            base = repeated(base, int(tokens.pop(0)))
        return base

    value = total()
    assert not tokens
    return value


def repeated(base: int, times: int) -> int:
    value = 1
    for _ in range(times):
        value *= base
    return value


def digits(question: str, level: int) -> int:
    value = numbers(question)[0]
    power = re.search(r"(\d+)\^(\d+)", question)
    if power:
        value = repeated(int(power[1]), int(power[2]))
    added = re.search(r"(\d+)!", question)
    if added:
        one = 1
        for k in range(1, int(added[1]) + 1):
            one *= k
        value += one
    found = []
    while value:
        value, digit = divmod(value, 10)
        found.append(digit)
    wanted = re.search(r"does the digit (\d) occur", question)
    return sum(digit == int(wanted[1]) for digit in found) if wanted else sum(found)


def fractions(question: str, level: int) -> Fraction:
    if level == 4:
        above, before, below, under = 1, 0, 0, 1
        for term in numbers(question):
            above, before, below, under = term * above + before, above, term * below + under, below
        return Fraction(above, below)
    if level == 5:
        shift, low, high = numbers(question.partition("1/(k * (k + ")[2])
        halves = [Fraction(1, k) - Fraction(1, k + shift) for k in range(low, high + 1)]
        return sum(halves, Fraction(0)) / shift
    above, below = 0, 1
    for one, other in re.findall(r"(\d+)/(\d+)", question):
        above, below = above * int(other) + int(one) * below, below * int(other)
    return Fraction(above, below)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reckon", [product, expression, digits, fractions], ids=lambda reckon: reckon.__name__)
def test_answers(reckon, level):
    agree(reckon.__name__, level, reckon)
