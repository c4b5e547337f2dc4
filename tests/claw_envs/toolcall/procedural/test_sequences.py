"""Step by step: answers are what matrix powers, closed forms, two runners and an interpreter of the wording give."""

import re
from functools import cache

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, numbers

Matrix = tuple[tuple[int, int], tuple[int, int]]


def times(m: Matrix, n: Matrix, modulus: int) -> Matrix:
    (a, b), (c, d) = m
    (e, f), (g, h) = n
    return (
        ((a * e + b * g) % modulus, (a * f + b * h) % modulus),
        ((c * e + d * g) % modulus, (c * f + d * h) % modulus),
    )


def term(first: int, second: int, p: int, q: int, place: int, modulus: int) -> int:
    """Term number `place` of a(n) = p a(n-1) + q a(n-2), by a matrix power."""
    power, factor, left = ((1, 0), (0, 1)), ((p, q), (1, 0)), place - 1
    while left:
        if left % 2:
            power = times(power, factor, modulus)
        factor, left = times(factor, factor, modulus), left // 2
    return (power[1][0] * second + power[1][1] * first) % modulus


def recurrence(question: str, level: int) -> int:
    given = numbers(question)
    if level == 1:
        return sum([given[0], *[given[1]] * (given[2] - 1)])
    if level == 2:
        return term(given[0], given[1], 1, 1, given[2], 10**30)
    if level == 3:
        first, second = (int(found) for found in re.findall(r"a\(\d\) = (\d+)", question))
        p, q = (int(found) for found in re.findall(r"(\d+) \* a", question))
        modulus, place = int(re.search(r"mod (\d+)", question)[1]), given[-1]
        return term(first, second, p, q, place, modulus)
    start, add, modulus = (int(found) for found in re.search(r"= (\d+) .*\+ (\d+)\) mod (\d+)", question).groups())

    def rule(x: int) -> int:
        return (x**2 + add) % modulus

    if level == 4:
        x = start
        for _ in range(given[-1]):
            x = rule(x)
        return x
    slow, fast = rule(start), rule(rule(start))
    while slow != fast:
        slow, fast = rule(slow), rule(rule(fast))
    before, slow = 0, start
    while slow != fast:
        before, slow, fast = before + 1, rule(slow), rule(fast)
    length, fast = 1, rule(slow)
    while slow != fast:
        length, fast = length + 1, rule(fast)
    return before + length


@cache
def steps(n: int) -> int:
    return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)


@cache
def peak(n: int) -> int:
    return 1 if n == 1 else max(n, peak(n // 2 if n % 2 == 0 else 3 * n + 1))


def collatz(question: str, level: int) -> int:
    given = numbers(question)
    if level == 1:
        return given[-1] // 2 if given[-1] % 2 == 0 else given[-1] * 3 + 1
    if level <= 3:
        return steps(max(given)) if level == 2 else peak(max(given))
    span = range(given[-2], given[-1] + 1)
    if level == 5:
        return sum(map(steps, span))
    return min(span, key=lambda n: (-steps(n), n))


def machine(question: str, level: int) -> int:
    given = numbers(question)
    if level == 1:
        return given[0] + given[1] * given[2]
    if level == 2:
        start, repeats, factor, add = given if "Do this" in question else (given[0], given[3], given[1], given[2])
        return start * factor**repeats + add * (factor**repeats - 1) // (factor - 1)
    if level == 3:
        x, repeats, half, add, factor, one = given
        assert (half, one) == (2, 1)
        for _ in range(repeats):
            x = x // 2 + add if x % 2 == 0 else x * factor + 1
        return x
    opening, _, rest = question.partition(".")
    values = {name: int(value) for name, value in re.findall(r"([a-d]) = (\d+)", opening)}
    assert len(values) == level - 1
    rules = re.findall(r"([a-d]) = \(([a-d]) \+ (\d+) \* ([a-d]) \+ (\d+)\) mod (\d+)", rest)
    assert len(rules) == level + 1
    for _ in range(int(re.search(r"(\d+) times", rest)[1])):
        for target, same, factor, source, add, modulus in rules:
            assert same == target
            values[target] = (values[target] + int(factor) * values[source] + int(add)) % int(modulus)
    return values[re.search(r"What is ([a-d]) at", rest)[1]]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reckon", [recurrence, collatz, machine], ids=lambda reckon: reckon.__name__)
def test_answers(reckon, level):
    agree(reckon.__name__, level, reckon)
