"""Lists: answers are what counting smaller numbers, looking members up one by one and a CSV reader give."""

import csv
import re

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, numbers


def ranks(question: str, level: int) -> int:
    given = numbers(question)
    place = None
    if level == 3:
        place = given.pop()
    if level == 4:
        half, _, *given = given
    rank = {sum(other <= value for other in given): value for value in given}
    if level == 1:
        return rank[1] if "smallest" in question else rank[5]
    if level == 2:
        return rank[6]
    if level == 3:
        return rank[place]
    if level == 4:
        return sum(rank[31 - place] - rank[place] for place in range(1, half + 1))
    return sum(before > after for i, after in enumerate(given) for before in given[:i])


def sets(question: str, level: int) -> set[int]:
    lists = [numbers(group) for group in re.findall(r"\[([^]]*)\]", question)]
    assert all(len(set(group)) == len(group) for group in lists)
    assert len(lists) == (2, 2, 2, 3, 5)[level - 1]
    wanted = {1: {2}, 2: {1}, 3: {0}, 4: {2}, 5: {1, 3, 5}}[level]
    found = {n for n in range(1, 41 if level == 3 else 51) if len([1 for group in lists if n in group]) in wanted}
    assert found
    return found


def table(question: str, level: int) -> int | str | dict[str, int]:
    if level == 1:
        return sum(numbers(question))
    rows = list(csv.DictReader(line for line in question.splitlines() if "," in line and "." not in line))
    assert len(rows) == (7, 10, 16, 18)[level - 2]
    city = question.rpartition(" in ")[2].strip("?")
    if level == 2:
        return sum(int(row["quantity"]) for row in rows if row["city"] == city)
    revenue = {}
    for row in rows:
        for _ in range(int(row["quantity"])):
            revenue[row["city"]] = revenue.get(row["city"], 0) + int(row["price"])
    if level == 3:
        return revenue[city]
    return max((total, city) for city, total in revenue.items())[1] if level == 4 else revenue


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reckon", [ranks, sets, table], ids=lambda reckon: reckon.__name__)
def test_answers(reckon, level):
    agree(reckon.__name__, level, reckon)
