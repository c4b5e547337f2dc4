"""Families of ways through a grid or a network: paths counted, mazes, roads."""

from collections import deque
from itertools import pairwise
from math import comb

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, listed, number

_TOWNS = "ABCDEFGHIJKLMNOP"


def lattice(draw: Draw, level: int) -> Problem:
    """Paths over a grid that only go right or up: all of them, around blocked points, with diagonal steps."""
    width, height = draw.numbers(2, *((2, 60), (4, 8), (7, 12), (8, 14), (12, 18))[level - 1])
    steps = (
        "one step right or one step up"
        if level < 4
        else "one step right, one step up, or one step diagonally right and up"
    )
    question = f"How many ways lead from (0, 0) to ({width}, {height}), if each move is {steps}?"
    if level == 1:
        question = draw.choice(
            (
                f"How many paths of right and up steps lead from (0, 0) to ({width}, {height})?",
                f"Moving only right or up, how many paths go from (0, 0) to ({width}, {height})?",
            )
        )
        return number(
            question, comb(width + height, width), f"import math\nprint(math.comb({width + height}, {width}))"
        )
    inner = [(x, y) for x in range(width + 1) for y in range(height + 1) if 0 < x + y < width + height]
    blocked = sorted(draw.sample(inner, (0, 2, 6, 8, 16)[level - 1]))
    ways = {(0, 0): 1}
    for x in range(width + 1):
        for y in range(height + 1):
            if (x, y) not in blocked and x + y:
                diagonal = ways.get((x - 1, y - 1), 0) if level >= 4 else 0
                ways[x, y] = ways.get((x - 1, y), 0) + ways.get((x, y - 1), 0) + diagonal
    extra = " + w.get((x - 1, y - 1), 0)" if level >= 4 else ""
    code = (
        f"b = {blocked}\nw = {{(0, 0): 1}}\nfor x in range({width + 1}):\n    for y in range({height + 1}):\n"
        "        if (x, y) not in b and (x, y) != (0, 0):\n"
        f"            w[x, y] = w.get((x - 1, y), 0) + w.get((x, y - 1), 0){extra}\nprint(w[{width}, {height}])"
    )
    return number(f"{question} These points may not be visited: {listed(blocked)}.", ways[width, height], code)


def maze(draw: Draw, level: int) -> Problem:
    """The fewest steps through a grid: an open one, then one with walls."""
    if level == 1:
        x, y, right, up = draw.between(1, 40), draw.between(1, 40), draw.between(2, 60), draw.between(2, 60)
        question = draw.choice(
            (
                f"How many unit steps right or up lead from ({x}, {y}) to ({x + right}, {y + up})?",
                f"How far is it on a grid, in unit steps, from ({x}, {y}) to ({x + right}, {y + up})?",
            )
        )
        return number(question, right + up, f"print({x + right} - {x} + {y + up} - {y})")
    size = (0, 6, 9, 12, 16)[level - 1]
    rows, steps = _maze(draw, size), 0
    while not (steps := _steps(rows)):
        rows = _maze(draw, size)
    drawn = "\n".join(rows)
    question = (
        f"In this maze, # is a wall:\n{drawn}\nWhat is the smallest number of steps (up, down, left or right) "
        "from the top left corner to the bottom right corner?"
    )
    code = (
        f"g = '''{drawn}'''.split()\nn = len(g)\nd, q = {{(0, 0): 0}}, [(0, 0)]\nfor r, c in q:\n"
        "    for t in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):\n"
        "        if 0 <= t[0] < n and 0 <= t[1] < n and g[t[0]][t[1]] == '.' and t not in d:\n"
        "            d[t] = d[r, c] + 1\n            q.append(t)\nprint(d[n - 1, n - 1])"
    )
    return number(question, steps, code)


def _maze(draw: Draw, size: int) -> list[str]:
    cells = [["#" if draw.below(100) < 32 else "." for _ in range(size)] for _ in range(size)]
    cells[0][0] = cells[-1][-1] = "."
    return ["".join(row) for row in cells]


def _steps(rows: list[str]) -> int:
    """Length of the shortest way from corner to corner; 0 where there is none."""
    size, goal = len(rows), (len(rows) - 1, len(rows) - 1)
    waiting, seen = deque([((0, 0), 0)]), {(0, 0)}
    while waiting:
        (row, column), steps = waiting.popleft()
        if (row, column) == goal:
            return steps
        for place in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            inside = 0 <= place[0] < size and 0 <= place[1] < size
            if inside and rows[place[0]][place[1]] == "." and place not in seen:
                seen.add(place)
                waiting.append((place, steps + 1))
    return 0


def roads(draw: Draw, level: int) -> Problem:
    """The shortest way between two towns of a network, one-way at level 5."""
    count, extra = ((3, 0), (5, 3), (8, 7), (11, 12), (14, 20))[level - 1]
    if level == 1:
        first, second = draw.between(2, 60), draw.between(2, 60)
        direct = first + second + draw.between(-9, 9)
        question = draw.choice(
            (
                f"A to B: {first} km. B to C: {second} km. A to C: {direct} km. Shortest way from A to C in km?",
                f"Roads: A to B: {first} km, B to C: {second} km, A to C: {direct} km. Shortest way from A to C?",
            )
        )
        return number(question, min(first + second, direct), f"print(min({first} + {second}, {direct}))")
    towns = _TOWNS[:count]
    chain = draw.sample(towns, count)
    pairs = list(pairwise(chain))
    others = [(a, b) for a in towns for b in towns if a < b and (a, b) not in pairs and (b, a) not in pairs]
    lengths = [(*pair, draw.between(2, 40)) for pair in pairs + draw.sample(others, extra)]
    oneway = level == 5
    kind = "One-way roads" if oneway else "Roads, passable in both directions,"
    listing = listed(f"{a} to {b} {length} km" for a, b, length in lengths)
    start, goal = chain[0], chain[-1]
    question = f"{kind} lead from {listing}. How many kilometres long is the shortest way from {start} to {goal}?"
    code = f"e = {lengths}\n" + ("" if oneway else "e += [(b, a, l) for a, b, l in e]\n")
    code += f"d = {{'{start}': 0}}\nfor i in range({count}):\n    for a, b, l in e:\n        if a in d:\n"
    code += f"            d[b] = min(d.get(b, 10**9), d[a] + l)\nprint(d['{goal}'])"
    return number(question, _shortest(lengths, towns, start, goal, oneway=oneway), code)


def _shortest(lengths: list[tuple[str, str, int]], towns: str, start: str, goal: str, *, oneway: bool) -> int:
    """By Floyd and Warshall: https://en.wikipedia.org/wiki/Floyd-Warshall_algorithm."""
    far = 10**9
    distance = {(a, b): 0 if a == b else far for a in towns for b in towns}
    for a, b, length in lengths:
        distance[a, b] = length
        if not oneway:
            distance[b, a] = length
    for middle in towns:
        for a in towns:
            for b in towns:
                distance[a, b] = min(distance[a, b], distance[a, middle] + distance[middle, b])
    return distance[start, goal]
