"""Families of time: dates and weekdays, clocks and timetables."""

from datetime import date, timedelta
from math import lcm

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, listed, number, text

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NAMES = "w = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']\n"


def dates(draw: Draw, level: int) -> Problem:
    """Weekdays, days between dates, dates some days on, certain weekdays in a span, working days."""
    start = date(1950, 1, 1) + timedelta(draw.below(365 * 120))
    code = f"from datetime import date, timedelta\na = {_code(start)}\n"
    if level == 1:
        question = draw.choice((f"What day of the week is {start}?", f"Which weekday is the date {start}?"))
        return text(
            question, _WEEKDAYS[start.weekday()], f"from datetime import date\nprint({_code(start)}.strftime('%A'))"
        )
    days = draw.between(*((0, 0), (40, 900), (300, 9_000), (2_000, 15_000), (60, 400))[level - 1])
    end = start + timedelta(days)
    code += f"b = {_code(end)}\n"
    if level == 2:
        question = draw.choice(
            (f"How many days are there from {start} to {end}?", f"How many days after {start} is {end}?")
        )
        return number(question, days, f"{code}print((b - a).days)")
    if level == 3:
        question = draw.choice(
            (
                f"Which date is {days} days after {start}? Write it as YYYY-MM-DD.",
                f"What date is it {days} days after {start}? Write it as YYYY-MM-DD.",
                f"Add {days} days to {start}. What is the date, as YYYY-MM-DD?",
            )
        )
        return text(
            question, str(end), f"from datetime import date, timedelta\nprint({_code(start)} + timedelta({days}))"
        )
    span = [start + timedelta(offset) for offset in range(days + 1)]
    code += "d = [a + timedelta(i) for i in range((b - a).days + 1)]\n"
    if level == 4:
        weekday, day = draw.below(7), draw.between(1, 31)
        question = (
            f"How many dates from {start} to {end}, both included, are a {_WEEKDAYS[weekday]} and the "
            f"{day}{_ending(day)} of a month?"
        )
        answer = sum(each.weekday() == weekday and each.day == day for each in span)
        return number(question, answer, f"{code}print(sum(x.weekday() == {weekday} and x.day == {day} for x in d))")
    holidays = sorted(draw.sample(span, 6))
    question = (
        f"How many working days (Monday to Friday, without holidays) are there from {start} to {end}, both included? "
        f"The holidays are {listed(holidays)}."
    )
    answer = sum(each.weekday() < 5 and each not in holidays for each in span)
    code += f"h = {[str(holiday) for holiday in holidays]}\nprint(sum(x.weekday() < 5 and str(x) not in h for x in d))"
    return number(question, answer, code)


def clock(draw: Draw, level: int) -> Problem:
    """Minutes of a time, arrivals, journeys in parts, departures of a day, buses that leave together."""
    hours, minutes = draw.between(2, 30), draw.between(1, 59)
    if level == 1:
        question = draw.choice(
            (
                f"How many minutes are {hours} hours and {minutes} minutes?",
                f"Convert {hours} hours and {minutes} minutes to minutes.",
            )
        )
        return number(question, hours * 60 + minutes, f"print({hours} * 60 + {minutes})")
    start = draw.between(5 * 60, 10 * 60)
    if level == 2:
        length = draw.between(61, 1_200)
        question = (
            f"A train leaves at {_time(start)} and travels for {length} minutes. At what time does it arrive? "
            "Write it as HH:MM on a 24-hour clock."
        )
        return text(question, _time(start + length), _printing(f"{start} + {length}"))
    if level == 3:
        parts = draw.numbers(5, 17, 230)
        question = (
            f"A journey starts at {_time(start)}. Its parts take {listed(parts)} minutes, with a rest of {minutes} "
            "minutes between one part and the next. At what time does it end? Write it as HH:MM on a 24-hour clock."
        )
        return text(
            question, _time(start + sum(parts) + 4 * minutes), _printing(f"{start} + sum({parts}) + 4 * {minutes}")
        )
    end, gap = draw.between(18 * 60, 23 * 60 + 59), draw.between(7, 29)
    if level == 4:
        other = draw.between(7, 29)
        question = (
            f"From {_time(start)} on, bus A leaves every {gap} minutes and bus B every {other} minutes, both for the "
            f"first time at {_time(start)}. In how many different minutes does at least one bus leave until "
            f"{_time(end)}, that minute included?"
        )
        leaving = set(range(start, end + 1, gap)) | set(range(start, end + 1, other))
        code = f"print(len(set(range({start}, {end + 1}, {gap})) | set(range({start}, {end + 1}, {other}))))"
        return number(question, len(leaving), code)
    gaps, meeting = draw.sample(range(7, 40), 3), draw.between(start + 200, start + 800)
    firsts = [meeting - gap * ((meeting - start) // gap) for gap in gaps]
    lines = listed(
        f"one at {_time(first)} and then every {gap} minutes" for first, gap in zip(firsts, gaps, strict=True)
    )
    period = lcm(*gaps)
    answer = meeting - period * ((meeting - max(firsts)) // period)
    question = (
        f"Three buses leave a station: {lines}. At what time do all three leave in the same minute for the first time? "
        "Write it as HH:MM on a 24-hour clock."
    )
    test = " and ".join(f"t >= {first} and (t - {first}) % {gap} == 0" for first, gap in zip(firsts, gaps, strict=True))
    return text(question, _time(answer), _printing(f"next(t for t in range(9999) if {test})"))


def _code(day: date) -> str:
    return f"date({day.year}, {day.month}, {day.day})"


def _ending(day: int) -> str:
    """Of an ordinal number, as in 1st."""
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _time(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def _printing(minutes: str) -> str:
    return f"t = {minutes}\nprint(f'{{t // 60 % 24:02d}}:{{t % 60:02d}}')"
