"""Families of counting: coins, choices."""

from math import comb, factorial, prod

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, listed, number
from claw_envs.toolcall.procedural.vocabulary import WORDS

SUMS = """c = {{0: 1}}
for i in range({times}):
    d = {{}}
    for s in c:
        for k in range({low}, {high}):
            d[s + k] = d.get(s + k, 0) + c[s]
    c = d
"""
"""How often each sum of `times` numbers from `low` to below `high` occurs."""


def coins(draw: Draw, level: int) -> Problem:
    """Coins for an amount: how many, in how many ways, how few; the best load of a bag."""
    if level == 1:
        coin, many = draw.choice((2, 5, 10, 20, 25, 50)), draw.between(11, 300)
        question = draw.choice(
            (
                f"How many coins of {coin} cents make {coin * many} cents?",
                f"How many times does {coin} go into {coin * many}?",
            )
        )
        return number(question, many, f"print({coin * many} // {coin})")
    if level == 5:
        weights, values = draw.numbers(12, 5, 60), draw.numbers(12, 10, 99)
        limit = sum(weights) // 2
        things = listed(f"{value} at weight {weight}" for value, weight in zip(values, weights, strict=True))
        question = (
            f"A bag holds a total weight of at most {limit}. These things have the values {things}; there is one of "
            "each. What is the largest total value that fits into the bag?"
        )
        best = [0] * (limit + 1)
        for weight, value in zip(weights, values, strict=True):
            best = [max(best[room], best[room - weight] + value if room >= weight else 0) for room in range(limit + 1)]
        code = (
            f"b = {{0: 0}}\nfor w, v in zip({weights}, {values}):\n"
            f"    for s, t in list(b.items()):\n        if s + w <= {limit}:\n"
            "            b[s + w] = max(b.get(s + w, 0), t + v)\nprint(max(b.values()))"
        )
        return number(question, best[limit], code)
    kinds = [1, *sorted(draw.sample(range(2, (0, 15, 30, 40)[level - 1]), (0, 2, 3, 4)[level - 1]))]
    total = draw.between(*((0, 0), (20, 60), (60, 300), (150, 500))[level - 1])
    shown = f"{listed(kinds[:-1])} and {kinds[-1]}"
    if level == 3:
        question = draw.choice(
            (
                f"What is the smallest number of coins that make {total} cents, with coins of {shown} cents?",
                f"With coins of {shown} cents, how few coins make {total} cents?",
            )
        )
        fewest = [0]
        for amount in range(1, total + 1):
            fewest.append(1 + min(fewest[amount - kind] for kind in kinds if kind <= amount))
        code = f"f = [0]\nfor n in range(1, {total + 1}):\n    f.append(1 + min(f[n - k] for k in {kinds} if k <= n))\n"
        return number(question, fewest[total], f"{code}print(f[-1])")
    question = (
        f"In how many ways can coins of {shown} cents make {total} cents? The order of the coins does not matter."
    )
    ways = [1] + [0] * total
    for kind in kinds:
        for amount in range(kind, total + 1):
            ways[amount] += ways[amount - kind]
    code = (
        f"w = [1] + [0] * {total}\nfor k in {kinds}:\n    for n in range(k, {total + 1}):\n        w[n] += w[n - k]\n"
    )
    return number(question, ways[total], f"{code}print(w[-1])")


def choices(draw: Draw, level: int) -> Problem:
    """Binomials, arrangements of letters, committees, lists with a given sum, hats that go astray."""
    if level == 1:
        total = draw.between(5, 99)
        chosen = draw.between(2, min(total - 1, 12))
        question = draw.choice(
            (f"How many ways are there to choose {chosen} of {total} books?", f"What is {total} choose {chosen}?")
        )
        return number(question, comb(total, chosen), f"import math\nprint(math.comb({total}, {chosen}))")
    if level == 2:
        first, second = draw.sample(WORDS, 2)
        word = first + second
        question = f"How many different arrangements do all the letters of '{first}' and '{second}' together have?"
        answer = factorial(len(word)) // prod(factorial(word.count(letter)) for letter in sorted(set(word)))
        code = f"from math import factorial, prod\nw = '{word}'\n"
        code += "print(factorial(len(w)) // prod(factorial(w.count(c)) for c in set(w)))"
        return number(question, answer, code)
    if level == 3:
        women, men = draw.between(6, 20), draw.between(6, 20)
        size = draw.between(4, 8)
        least = draw.between(2, size - 1)
        question = (
            f"In how many ways can a committee of {size} be chosen from {women} women and {men} men "
            f"if at least {least} of its members must be women?"
        )
        answer = sum(comb(women, chosen) * comb(men, size - chosen) for chosen in range(least, size + 1))
        term = f"comb({women}, k) * comb({men}, {size} - k) for k in range({least}, {size + 1})"
        return number(question, answer, f"from math import comb\nprint(sum({term}))")
    if level == 4:
        low, length = draw.between(0, 5), draw.between(4, 9)
        high = low + draw.between(4, 12)
        total = draw.between(length * low + 5, length * high - 5)
        question = (
            f"How many lists of {length} whole numbers, each from {low} to {high}, have the sum {total}? Lists in a "
            "different order are different."
        )
        code = SUMS.format(times=length, low=low, high=high + 1)
        return number(question, sums(length, low, high)[total], f"{code}print(c[{total}])")
    people, fixed = draw.between(9, 150), draw.between(0, 7)
    question = (
        f"{people} people put their hats in a box, and each draws one. In how many ways can the hats be drawn so that "
        f"exactly {fixed} people get their own?"
    )
    astray = people - fixed
    deranged = sum((-1) ** k * (factorial(astray) // factorial(k)) for k in range(astray + 1))
    code = f"from math import comb\na, b = 1, 0\nfor n in range(2, {astray + 1}):\n    a, b = b, (n - 1) * (a + b)\n"
    return number(question, comb(people, fixed) * deranged, f"{code}print(comb({people}, {fixed}) * b)")


def sums(length: int, low: int, high: int) -> dict[int, int]:
    """In how many ways `length` numbers from `low` to `high` have each sum, by inclusion and exclusion.

    The number of lists with sum s is the sum over k of (-1)^k C(n, k) C(s - n low - k m + n - 1, n - 1), where m is
    how many numbers there are to choose from: https://en.wikipedia.org/wiki/Stars_and_bars_(combinatorics).
    """
    kinds = high - low + 1
    return {
        length * low + over: sum(
            (-1) ** k * comb(length, k) * comb(over - k * kinds + length - 1, length - 1)
            for k in range(over // kinds + 1)
        )
        for over in range(length * (high - low) + 1)
    }
