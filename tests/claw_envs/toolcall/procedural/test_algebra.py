"""Linear algebra: solutions satisfy their equations; determinants are what elimination with fractions gives."""

import json
import re
from fractions import Fraction

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, answer_of, numbers, problems


def determinant(question: str, level: int) -> Fraction:
    rows = json.loads(question[question.index("[[") : question.index("]]") + 2])
    assert [len(row) for row in rows] == [level + 1] * (level + 1)
    return eliminated(rows)


def eliminated(rows: list[list[int]]) -> Fraction:
    matrix, value = [[Fraction(cell) for cell in row] for row in rows], Fraction(1)
    while matrix:
        place = next((place for place, row in enumerate(matrix) if row[0]), None)
        if place is None:
            return Fraction(0)
        first = matrix.pop(place)
        value *= first[0] * (-1) ** place
        matrix = [
            [cell - row[0] / first[0] * above for cell, above in zip(row[1:], first[1:], strict=True)] for row in matrix
        ]
    return value


@pytest.mark.parametrize("level", LEVELS)
def test_determinant(level):
    agree("determinant", level, determinant)


def test_one_unknown():
    agree("linear", 1, lambda question, _: Fraction(numbers(question)[2] - numbers(question)[1], numbers(question)[0]))


def test_two_unknowns():
    def cramer(question: str, level: int) -> Fraction:
        (a, b, p), (c, d, q) = (map(int, row) for row in equations(question, "xy"))
        below = a * d - b * c
        return Fraction(p * d - b * q, below) if question.startswith("What is x") else Fraction(a * q - p * c, below)

    agree("linear", 2, cramer)


@pytest.mark.parametrize("level", [3, 4, 5])
def test_solutions_satisfy_their_equations_which_have_no_other(level):
    for task in problems("linear", level):
        names = "xyzuv"[:level]
        rows, answer = equations(task.instruction, names), answer_of(task)
        assert list(answer) == list(names)
        assert len(rows) == level
        for *factors, right in rows:
            assert sum(factor * answer[name] for factor, name in zip(factors, names, strict=True)) == right
        assert eliminated([row[:-1] for row in rows])


def equations(question: str, names: str) -> list[list[int]]:
    """Factors and right side of each equation."""
    terms = "".join(rf"(-?\d+|[-+] \d+){name} ?" for name in names)
    return [[int(part.replace(" ", "")) for part in found] for found in re.findall(rf"{terms}= (-?\d+)", question)]
