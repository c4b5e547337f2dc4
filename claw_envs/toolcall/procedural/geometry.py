"""Families of plane geometry with whole coordinates: areas, points inside."""

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, listed, number


def polygon(draw: Draw, level: int) -> Problem:
    """Areas of rectangles, triangles and polygons with whole coordinates; the points inside."""
    if level == 1:
        x, y, width, height = draw.between(0, 30), draw.between(0, 30), draw.between(2, 40), draw.between(2, 40)
        question = draw.choice(
            (
                f"A rectangle has the corners ({x}, {y}) and ({x + width}, {y + height}). What is its area?",
                f"What is the area of the rectangle from ({x}, {y}) to ({x + width}, {y + height})?",
            )
        )
        return number(question, width * height, f"print(({x + width} - {x}) * ({y + height} - {y}))")
    corners = (
        _triangle(draw) if level == 2 else _corners(draw, (0, 0, 3, 4, 7)[level - 1], (0, 0, 40, 60, 90)[level - 1])
    )
    code = f"p = {corners}\ns = abs(sum(a * d - c * b for (a, b), (c, d) in zip(p, p[1:] + p[:1])))\n"
    shape = "triangle" if len(corners) == 3 else "polygon"
    named = f"the {shape} with the corners {listed(corners)}"
    if level < 4:
        question = draw.choice((f"What is the area of {named}?", f"Find the exact area of {named}."))
        code += "from fractions import Fraction\nprint(Fraction(s, 2))"
        return number(question, _area(corners), code)
    question = f"How many points with whole coordinates lie strictly inside {named}, taken in this order?"
    code += "import math\nb = sum(math.gcd(a - c, b - d) for (a, b), (c, d) in zip(p, p[1:] + p[:1]))\n"
    return number(question, _inside(corners), f"{code}print((s - b + 2) // 2)")


def _triangle(draw: Draw) -> list[tuple[int, int]]:
    corners = [(draw.between(-40, 40), draw.between(-40, 40)) for _ in range(3)]
    return corners if _area(corners) else _triangle(draw)


def _corners(draw: Draw, half: int, top: int) -> list[tuple[int, int]]:
    """Corners of a polygon that does not cross itself: from the leftmost along its lower side, back along the upper."""
    x, y = draw.between(-20, 20), draw.between(-20, 20)
    places = draw.sample(range(1, top), 2 * half)
    lower = [(x + place, y - draw.between(1, top)) for place in sorted(places[:half])]
    upper = [(x + place, y + draw.between(1, top)) for place in sorted(places[half:], reverse=True)]
    return [(x, y), *lower, (x + top, y), *upper]


def _area(corners: list[tuple[int, int]]) -> Fraction:
    """By the shoelace formula: https://en.wikipedia.org/wiki/Shoelace_formula."""
    pairs = zip(corners, corners[1:] + corners[:1], strict=True)
    return Fraction(abs(sum(x * v - u * y for (x, y), (u, v) in pairs)), 2)


def _inside(corners: list[tuple[int, int]]) -> int:
    """Points strictly inside, counted along each vertical line: those between its lower and its upper side."""
    turn = max(range(len(corners)), key=lambda place: corners[place][0])
    lower, upper = corners[: turn + 1], [corners[0], *reversed(corners[turn:])]
    heights = [(_height(lower, x), _height(upper, x)) for x in range(corners[0][0] + 1, corners[turn][0])]
    return sum(ceil(high) - 1 - floor(low) for low, high in heights)


def _height(side: list[tuple[int, int]], x: int) -> Fraction:
    """Where `side`, given from left to right, is above or below `x`."""
    (left, y), (right, v) = next(pair for pair in pairwise(side) if pair[0][0] <= x <= pair[1][0])
    return y + Fraction((v - y) * (x - left), right - left)
