"""Families of lists of numbers: rank and order, sets, tables."""

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, listed, members, number, record, text
from claw_envs.toolcall.procedural.vocabulary import CITIES, GOODS, PEOPLE


def ranks(draw: Draw, level: int) -> Problem:
    """The largest, the median, the k-th smallest, sums of the largest, pairs out of order."""
    count, top = ((5, 99), (11, 500), (20, 999), (30, 9_999), (25, 999))[level - 1]
    values = draw.sample(range(1, top + 1), count)
    shown = listed(values)
    if level == 1:
        which, code, answer = draw.choice((("largest", "max", max(values)), ("smallest", "min", min(values))))
        question = draw.choice((f"What is the {which} of {shown}?", f"Which number is the {which}: {shown}?"))
        return number(question, answer, f"print({code}({values}))")
    if level == 2:
        question = draw.choice((f"What is the median of {shown}?", f"Find the median of these numbers: {shown}."))
        return number(question, sorted(values)[count // 2], f"print(sorted({values})[{count // 2}])")
    place = draw.between(4, count - 4)
    if level == 3:
        question = draw.choice(
            (
                f"Sort these numbers from small to large: {shown}. Which one is number {place}?",
                f"When the numbers {shown} are sorted from small to large, which one is number {place}?",
            )
        )
        return number(question, sorted(values)[place - 1], f"print(sorted({values})[{place - 1}])")
    if level == 4:
        half = draw.between(5, 14)
        question = f"By how much does the sum of the {half} largest exceed the sum of the {half} smallest of {shown}?"
        ranked = sorted(values)
        code = f"s = sorted({values})\nprint(sum(s[-{half}:]) - sum(s[:{half}]))"
        return number(question, sum(ranked[-half:]) - sum(ranked[:half]), code)
    question = f"In how many pairs of this list does the larger number come before the smaller one: {shown}?"
    pairs = sum(left > right for place, left in enumerate(values) for right in values[place:])
    code = f"v = {values}\nprint(sum(v[i] > v[j] for j in range(len(v)) for i in range(j)))"
    return number(question, pairs, code)


def sets(draw: Draw, level: int) -> Problem:
    """What sets have in common, what only one has, what exactly two or an odd number of them have."""
    count, size, top = ((2, 3, 12), (2, 9, 30), (2, 14, 40), (3, 15, 50), (5, 14, 50))[level - 1]
    given = [draw.sample(range(1, top + 1), size) for _ in range(count)]
    if level == 1 and not set(given[0]) & set(given[1]):
        given[1][0] = given[0][0]
    given = [sorted(group) for group in given]
    groups = [frozenset(group) for group in given]
    times = {member: sum(member in group for group in groups) for member in range(1, top + 1)}
    shown = " and ".join(f"[{listed(group)}]" for group in given)
    code = f"s = [set(g) for g in {given}]\n"
    if level == 1:
        code = f"print(*sorted(set({given[0]}) & set({given[1]})), sep=', ')"
        question = draw.choice((f"Which numbers are in both {shown}?", f"What do {shown} have in common?"))
        return members(question, groups[0] & groups[1], code)
    if level == 2:
        question = draw.choice(
            (
                f"Which numbers are in exactly one of the lists {shown}?",
                f"List the numbers that only one of {shown} has.",
            )
        )
        return members(question, groups[0] ^ groups[1], f"{code}print(*sorted(s[0] ^ s[1]), sep=', ')")
    if level == 3:
        question = f"Which of the numbers from 1 to {top} are in neither of the lists {shown}?"
        missing = set(range(1, top + 1)) - groups[0] - groups[1]
        return members(question, missing, f"{code}print(*sorted(set(range(1, {top + 1})) - s[0] - s[1]), sep=', ')")
    phrase, test, wanted = ("exactly two", "== 2", (2,)) if level == 4 else ("an odd number", "% 2", (1, 3, 5))
    found = [member for member, number_of_groups in times.items() if number_of_groups in wanted]
    question = f"Which numbers are in {phrase} of these {count} lists: {shown}?"
    choice = f"n for n in range({top + 1}) if sum(n in g for g in s) {test}"
    return members(question, found, f"{code}print(*({choice}), sep=', ')")


def table(draw: Draw, level: int) -> Problem:
    """Sums over a table: of three prices, of one city, of quantities times prices, of every city."""
    if level == 1:
        prices, goods = draw.numbers(3, 3, 99), draw.sample(GOODS, 3)
        listing = listed(f"{good} {price}" for good, price in zip(goods, prices, strict=True))
        question = draw.choice(
            (f"Prices: {listing}. What is the total?", f"What is the sum of these prices: {listing}?")
        )
        return number(question, sum(prices), f"print({' + '.join(map(str, prices))})")
    rows = [
        (
            draw.choice(PEOPLE),
            draw.choice(CITIES[: 1 + level]),
            draw.choice(GOODS),
            draw.between(2, 60),
            draw.between(3, 99),
        )
        for _ in range((0, 7, 10, 16, 18)[level - 1])
    ]
    lines = ["name,city,goods,quantity,price", *(",".join(map(str, row)) for row in rows)]
    sheet = "\n".join(lines)
    totals = {city: sum(row[3] * row[4] for row in rows if row[1] == city) for city in sorted({row[1] for row in rows})}
    city = rows[0][1]
    intro = f"Here is a table of sales:\n{sheet}\n"
    code = f"rows = [r.split(',') for r in '''{sheet}'''.splitlines()[1:]]\n"
    if level == 2:
        question = f"{intro}How many pieces (column quantity) were sold in {city}?"
        answer = sum(row[3] for row in rows if row[1] == city)
        return number(question, answer, f"{code}print(sum(int(r[3]) for r in rows if r[1] == '{city}'))")
    if level == 3:
        question = f"{intro}The revenue of a row is quantity times price. What is the revenue in {city}?"
        picked = f"int(r[3]) * int(r[4]) for r in rows if r[1] == '{city}'"
        return number(question, totals[city], f"{code}print(sum({picked}))")
    code += "t = {}\nfor r in rows:\n    t[r[1]] = t.get(r[1], 0) + int(r[3]) * int(r[4])\n"
    if level == 4:
        best = max(totals, key=lambda name: (totals[name], name))
        question = (
            f"{intro}The revenue of a row is quantity times price. Which city has the highest revenue in total? "
            "Of equal ones, take the last in the alphabet."
        )
        return text(question, best, f"{code}print(max(t, key=lambda c: (t[c], c)))")
    question = (
        f"{intro}The revenue of a row is quantity times price. What is the revenue of every city? "
        'Answer with a JSON object such as {"Atlantis": 10, "Utopia": 20}.'
    )
    return record(question, totals, f"import json\n{code}print(json.dumps(t))")
