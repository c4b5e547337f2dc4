"""Families of linear algebra: systems of equations, determinants."""

from itertools import permutations

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, listed, number, record

_SOLVE = """from fractions import Fraction
m = [[Fraction(c) for c in row] for row in {rows}]
n = len(m)
for i in range(n):
    p = next(r for r in range(i, n) if m[r][i])
    m[i], m[p] = m[p], m[i]
    m[i] = [c / m[i][i] for c in m[i]]
    for r in range(n):
        if r != i:
            m[r] = [a - m[r][i] * b for a, b in zip(m[r], m[i])]
x = [int(row[-1]) for row in m]
"""
_DETERMINANT = """def det(m):
    if not m:
        return 1
    return sum((-1)**i * m[0][i] * det([r[:i] + r[i + 1:] for r in m[1:]]) for i in range(len(m)))
"""


def linear(draw: Draw, level: int) -> Problem:
    """Equations with one to five unknowns, whose solution is whole numbers."""
    if level == 1:
        factor, constant, solution = draw.between(2, 30), draw.between(1, 99), draw.between(2, 60)
        right = factor * solution + constant
        question = draw.choice(
            (f"Solve {factor}x + {constant} = {right} for x.", f"Find x if {factor}x + {constant} = {right}.")
        )
        return number(question, solution, f"print(({right} - {constant}) // {factor})")
    names = "xyzuv"[:level]
    matrix = _matrix(draw, level, 9)
    while not determinant_of(matrix):
        matrix = _matrix(draw, level, 9)
    values = draw.numbers(level, -20, 20)
    rights = [sum(factor * value for factor, value in zip(row, values, strict=True)) for row in matrix]
    equations = listed(f"{_terms(row, names)} = {right}" for row, right in zip(matrix, rights, strict=True))
    code = _SOLVE.format(rows=[[*row, right] for row, right in zip(matrix, rights, strict=True)])
    if level == 2:
        wanted = draw.below(2)
        question = f"What is {names[wanted]} if {equations}?"
        return number(question, values[wanted], f"{code}print(x[{wanted}])")
    example = listed(f'"{name}": {place}' for place, name in enumerate(names, 1))
    question = f"Solve {equations}. Answer with a JSON object such as {{{example}}}."
    code += f"import json\nprint(json.dumps(dict(zip('{names}', x))))"
    return record(question, dict(zip(names, values, strict=True)), code)


def _matrix(draw: Draw, size: int, top: int) -> list[list[int]]:
    return [draw.numbers(size, -top, top) for _ in range(size)]


def _terms(row: list[int], names: str) -> str:
    """One side of an equation.

    >>> _terms([2, -1, 0], "xyz")
    '2x - 1y + 0z'
    """
    first, *others = zip(row, names, strict=True)
    signs = "".join(f" {'-' if factor < 0 else '+'} {abs(factor)}{name}" for factor, name in others)
    return f"{first[0]}{first[1]}{signs}"


def determinant(draw: Draw, level: int) -> Problem:
    """Determinants of two to six rows."""
    matrix = _matrix(draw, level + 1, (9, 12, 15, 12, 9)[level - 1])
    question = draw.choice((f"What is the determinant of {matrix}?", f"Find the determinant of {matrix}."))
    if level == 1:
        (a, b), (c, d) = matrix
        return number(question, a * d - b * c, f"print({a} * {_signed(d)} - {_signed(b)} * {_signed(c)})")
    return number(question, determinant_of(matrix), f"{_DETERMINANT}print(det({matrix}))")


def _signed(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def determinant_of(matrix: list[list[int]]) -> int:
    """By the sum over all permutations (Leibniz)."""
    total, size = 0, len(matrix)
    for order in permutations(range(size)):
        turns = sum(order[i] > order[j] for j in range(size) for i in range(j))
        term = -1 if turns % 2 else 1
        for row, column in enumerate(order):
            term *= matrix[row][column]
        total += term
    return total
