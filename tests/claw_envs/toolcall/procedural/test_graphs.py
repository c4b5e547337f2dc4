"""Ways: answers are what recursion from the goal, a spreading front and Dijkstra's queue give."""

import re
from functools import cache
from heapq import heappop, heappush

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, numbers


def lattice(question: str, level: int) -> int:
    points = [(int(x), int(y)) for x, y in re.findall(r"\((\d+), (\d+)\)", question)]
    (start, goal), blocked = points[:2], points[2:]
    assert start == (0, 0)
    assert (len(blocked), len(set(blocked) - {start, goal})) == ((0, 2, 6, 8, 16)[level - 1],) * 2

    @cache
    def ways(x: int, y: int) -> int:
        if (x, y) == goal:
            return 1
        if x > goal[0] or y > goal[1] or (x, y) in blocked:
            return 0
        return ways(x + 1, y) + ways(x, y + 1) + (ways(x + 1, y + 1) if "diagonally" in question else 0)

    return ways(0, 0)


def maze(question: str, level: int) -> int:
    if level == 1:
        x, y, u, v = numbers(question)
        return len(range(x, u)) + len(range(y, v))
    rows = re.findall(r"^[.#]+$", question, re.MULTILINE)
    size = (6, 9, 12, 16)[level - 2]
    assert [len(row) for row in rows] == [size] * size
    free = {(r, c) for r in range(size) for c in range(size) if rows[r][c] == "."}
    reached, steps = {(0, 0)}, 0
    while (size - 1, size - 1) not in reached:
        spread = {(r + down, c + right) for r, c in reached for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1))}
        assert not (spread & free) <= reached, "no way"
        reached, steps = reached | spread & free, steps + 1
    return steps


def roads(question: str, level: int) -> int:
    pattern = r"([A-C]) to ([A-C]): (\d+) km" if level == 1 else r"([A-P]) to ([A-P]) (\d+) km"
    lengths = [(a, b, int(length)) for a, b, length in re.findall(pattern, question)]
    assert len(lengths) == (3, 7, 14, 22, 33)[level - 1]
    start, goal = re.search(r"from ([A-P]) to ([A-P])(?: in km)?\?$", question).groups()
    waiting, done = [(0, start)], set()
    while waiting:
        distance, town = heappop(waiting)
        if town == goal:
            return distance
        done.add(town)
        for a, b, length in lengths:
            if a == town and b not in done:
                heappush(waiting, (distance + length, b))
            if b == town and a not in done and "One-way" not in question:
                heappush(waiting, (distance + length, a))
    raise AssertionError("no way")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reckon", [lattice, maze, roads], ids=lambda reckon: reckon.__name__)
def test_answers(reckon, level):
    agree(reckon.__name__, level, reckon)
