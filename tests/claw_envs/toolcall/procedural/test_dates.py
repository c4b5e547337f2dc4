"""Time: answers are what a calendar made of month lengths and a minute-by-minute clock give."""

import re
from itertools import count, takewhile

import pytest

from tests.claw_envs.toolcall.procedural.reckoning import LEVELS, agree, numbers

WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def calendar() -> list[tuple[str, str]]:
    """Every date from 1950 on and its weekday; the first of January 1950 was a Sunday."""
    days = []
    for year in range(1950, 2115):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        for month, length in enumerate((31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), 1):
            days += [f"{year}-{month:02d}-{day:02d}" for day in range(1, length + 1)]
    return [(day, WEEKDAYS[place % 7]) for place, day in enumerate(days)]


CALENDAR = calendar()
PLACE = {day: place for place, (day, _) in enumerate(CALENDAR)}


def dates(question: str, level: int) -> int | str:
    named = re.findall(r"\d{4}-\d{2}-\d{2}", question)
    start = PLACE[named[0]]
    if level == 1:
        return CALENDAR[start][1]
    if level == 3:
        return CALENDAR[start + numbers(question)[0]][0]
    end = PLACE[named[1]]
    if level == 2:
        return end - start
    span = CALENDAR[start : end + 1]
    if level == 4:
        weekday, day = re.search(r"are a (\w+) and the (\d+)(?:st|nd|rd|th) of", question).groups()
        return sum(name == weekday and date.endswith(f"-{int(day):02d}") for date, name in span)
    assert len(named) == 8
    assert all(start <= PLACE[holiday] <= end for holiday in named[2:])
    return sum(name not in ("Saturday", "Sunday") and date not in named[2:] for date, name in span)


def clock(question: str, level: int) -> int | str:
    times = [int(hours) * 60 + int(minutes) for hours, minutes in re.findall(r"(\d\d):(\d\d)", question)]
    rest = numbers(re.sub(r"\d\d:\d\d", "", question))
    if level == 1:
        return sum(60 for _ in range(rest[0])) + rest[1]
    if level == 2:
        return written(times[0], rest[0])
    if level == 3:
        return written(times[0], sum(rest[:5]) + 4 * rest[5])
    if level == 4:
        (start, _, end), (one, other) = times, rest[:2]
        return sum((now - start) % one == 0 or (now - start) % other == 0 for now in range(start, end + 1))
    lines = [set(takewhile(lambda now: now < 5_000, count(*line))) for line in zip(times, rest, strict=False)]
    assert len(lines) == 3
    return written(min(lines[0] & lines[1] & lines[2]), 0)


def written(time: int, minutes: int) -> str:
    hour, minute = divmod(time, 60)
    for _ in range(minutes):
        minute += 1
        if minute == 60:
            hour, minute = hour + 1, 0
        if hour == 24:
            hour = 0
    return f"{hour:02d}:{minute:02d}"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reckon", [dates, clock], ids=lambda reckon: reckon.__name__)
def test_answers(reckon, level):
    agree(reckon.__name__, level, reckon)
