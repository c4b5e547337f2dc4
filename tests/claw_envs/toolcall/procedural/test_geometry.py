"""Geometry: points inside are what a ray from each point tells, areas what Pick's theorem makes of them."""

import re
from fractions import Fraction

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import agree, numbers

Point = tuple[int, int]


def on_side(point: Point, one: Point, other: Point) -> bool:
    (x, y), (a, b), (c, d) = point, one, other
    on_line = (c - a) * (y - b) == (d - b) * (x - a)
    return on_line and min(a, c) <= x <= max(a, c) and min(b, d) <= y <= max(b, d)


def count_points(corners: list[Point]) -> tuple[int, int]:
    """Points with whole coordinates inside and on the sides of a polygon."""
    sides = list(zip(corners, [*corners[1:], corners[0]], strict=True))
    columns = range(min(x for x, _ in corners), max(x for x, _ in corners) + 1)
    inside = border = 0
    for x in columns:
        for y in range(min(y for _, y in corners), max(y for _, y in corners) + 1):
            if any(on_side((x, y), *side) for side in sides):
                border += 1
            else:
                above = [
                    (b - y) * (c - a) > (b - d) * (x - a) if c > a else (b - y) * (c - a) < (b - d) * (x - a)
                    for (a, b), (c, d) in sides
                    if (a <= x) != (c <= x)
                ]
                inside += sum(above) % 2
    return inside, border


def corners_of(question: str, level: int) -> list[Point]:
    corners = [(int(x), int(y)) for x, y in re.findall(r"\((-?\d+), (-?\d+)\)", question)]
    assert len(corners) == len(set(corners)) == (2, 3, 8, 10, 16)[level - 1]
    return corners


def test_rectangle():
    def by_squares(question: str, level: int) -> int:
        x, y, u, v = numbers(question)
        return sum(1 for _ in range(x, u) for _ in range(y, v))

    agree("polygon", 1, by_squares)


@pytest.mark.parametrize("level", [2, 3])
def test_area(level):
    def by_pick(question: str, level: int) -> Fraction:
        inside, border = count_points(corners_of(question, level))
        return inside + Fraction(border, 2) - 1

    agree("polygon", level, by_pick, count=12)


@pytest.mark.parametrize("level", [4, 5])
def test_points_inside(level):
    agree("polygon", level, lambda question, level: count_points(corners_of(question, level))[0], count=6)
