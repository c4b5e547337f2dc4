"""Families of things that go on step by step: recurrences, the Collatz rule, small machines."""

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, number

_REGISTERS = "abcd"
_RUN = """def run(n):
    r = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        r.append(n)
    return r
"""


def recurrence(draw: Draw, level: int) -> Problem:
    """Terms of sequences: arithmetic, of Fibonacci's kind, linear modulo a number, quadratic; when one repeats."""
    first, second = draw.between(1, 20), draw.between(1, 20)
    if level == 1:
        place = draw.between(5, 60)
        question = draw.choice(
            (
                f"A sequence starts with {first} and grows by {second} each time. What is term number {place}?",
                f"Count from {first} in steps of {second}. What is term number {place}?",
            )
        )
        return number(question, first + second * (place - 1), f"print({first} + {second} * ({place} - 1))")
    if level == 2:
        place = draw.between(20, 60)
        question = (
            f"A sequence starts with {first}, {second}; every further term is the sum of the two before it. "
            f"What is term number {place}?"
        )
        terms = [first, second]
        while len(terms) < place:
            terms.append(terms[-1] + terms[-2])
        code = f"a, b = {first}, {second}\nfor i in range({place} - 1):\n    a, b = b, a + b\nprint(a)"
        return number(question, terms[-1], code)
    p, q, modulus = draw.between(2, 30), draw.between(2, 30), draw.between(500, 99_999)
    if level == 3:
        place = draw.between(30, 500)
        question = (
            f"Let a(1) = {first}, a(2) = {second}, and a(n) = ({p} * a(n-1) + {q} * a(n-2)) mod {modulus} for n > 2. "
            f"What is a({place})?"
        )
        terms = [first % modulus, second % modulus]
        while len(terms) < place:
            terms.append((p * terms[-1] + q * terms[-2]) % modulus)
        code = (
            f"a, b = {first}, {second}\nfor i in range({place} - 2):\n    a, b = b, ({p} * b + {q} * a) % {modulus}\n"
        )
        return number(question, terms[-1], f"{code}print(b)")
    rule = f"x(n) = (x(n-1)^2 + {p}) mod {modulus}"
    start = f"Let x(0) = {first} and {rule} for n > 0."
    seen, term = [first], first
    if level == 4:
        place = draw.between(100, 2_000)
        for _ in range(place):
            term = (term * term + p) % modulus
        code = f"x = {first}\nfor i in range({place}):\n    x = (x * x + {p}) % {modulus}\nprint(x)"
        return number(f"{start} What is x({place})?", term, code)
    while seen.count(term) < 2:
        term = (term * term + p) % modulus
        seen.append(term)
    code = (
        f"x, seen = {first}, {{}}\nwhile x not in seen:\n    seen[x] = len(seen)\n    x = (x * x + {p}) % {modulus}\n"
    )
    question = f"{start} What is the smallest n for which x(n) equals an earlier term?"
    return number(question, len(seen) - 1, f"{code}print(len(seen))")


def collatz(draw: Draw, level: int) -> Problem:
    """The rule that halves an even number and takes three times an odd one plus 1: steps, peaks, longest runs."""
    rule = "halve n if it is even, else replace it by 3n + 1"
    if level == 1:
        given = draw.between(5, 9_999)
        after = given // 2 if given % 2 == 0 else 3 * given + 1
        question = draw.choice(
            (
                f"If n is even, halve it, else take 3n + 1. What follows n = {given}?",
                f"What is n / 2 if n is even, else 3n + 1, for n = {given}?",
            )
        )
        return number(question, after, f"n = {given}\nprint(n // 2 if n % 2 == 0 else 3 * n + 1)")
    given = draw.between(*((10, 3_000), (10_000, 9_999_999), (300, 2_000), (400, 3_000))[level - 2])
    if level == 2:
        question = draw.choice(
            (
                f"Start with n = {given} and repeat: {rule}. After how many steps is n = 1 for the first time?",
                f"Repeat with n: {rule}. How many steps take n = {given} to 1 for the first time?",
            )
        )
        return number(question, len(_run(given)) - 1, f"{_RUN}print(len(run({given})) - 1)")
    if level == 3:
        question = f"Start with n = {given} and repeat until n = 1: {rule}. What is the largest value that n has?"
        return number(question, max(_run(given)), f"{_RUN}print(max(run({given})))")
    low = given - draw.between(50, 250)
    start = f"For a starting number, repeat until n = 1: {rule}."
    if level == 4:
        question = f"{start} Which starting number from {low} to {given} takes the most steps? Of several, the least."
        longest = max(range(low, given + 1), key=lambda n: (len(_run(n)), -n))
        return number(
            question, longest, f"{_RUN}print(max(range({low}, {given + 1}), key=lambda n: (len(run(n)), -n)))"
        )
    question = f"{start} How many steps do the starting numbers from {low} to {given} take in total?"
    total = sum(len(_run(n)) - 1 for n in range(low, given + 1))
    return number(question, total, f"{_RUN}print(sum(len(run(n)) - 1 for n in range({low}, {given + 1})))")


def _run(n: int) -> list[int]:
    terms = [n]
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        terms.append(n)
    return terms


def machine(draw: Draw, level: int) -> Problem:
    """What a small program leaves: doublings, a rule repeated, a branch, registers that change each other."""
    start, times = draw.between(2, 30), draw.between(*((3, 12), (6, 20), (10, 40), (30, 99), (100, 300))[level - 1])
    add, factor, modulus = draw.between(2, 50), draw.between(2, 9), draw.between(100, 9_999)
    if level == 1:
        question = draw.choice(
            (
                f"x is {start}. Add {add} to it {times} times. What is x now?",
                f"Start with {start} and add {add} to it, {times} times in all. What is the result?",
            )
        )
        return number(question, start + add * times, f"print({start} + {add} * {times})")
    if level == 2:
        question = draw.choice(
            (
                f"x is {start}. Do this {times} times: multiply x by {factor}, then add {add}. What is x at the end?",
                f"Let x be {start}. Multiply x by {factor} and add {add}, {times} times over. What is x at the end?",
            )
        )
        value = start
        for _ in range(times):
            value = value * factor + add
        return number(question, value, f"x = {start}\nfor i in range({times}):\n    x = x * {factor} + {add}\nprint(x)")
    if level == 3:
        question = (
            f"x is {start}. Do this {times} times: if x is even, divide it by 2 and add {add}, else multiply it by "
            f"{factor} and add 1. What is x at the end?"
        )
        value = start
        for _ in range(times):
            value = value * factor + 1 if value % 2 else value // 2 + add
        code = f"x = {start}\nfor i in range({times}):\n    x = x // 2 + {add} if x % 2 == 0 else x * {factor} + 1\n"
        return number(question, value, f"{code}print(x)")
    return _registers(draw, start, times, modulus, size=level - 1)


def _registers(draw: Draw, start: int, times: int, modulus: int, *, size: int) -> Problem:
    """A loop of `size` + 2 assignments to as many registers as that allows."""
    names = _REGISTERS[:size]
    begins = {name: start + place for place, name in enumerate(names)}
    rules = [(draw.choice(names), draw.between(2, 9), draw.choice(names), draw.between(1, 99)) for _ in range(size + 2)]
    values = dict(begins)
    for _ in range(times):
        for target, factor, source, add in rules:
            values[target] = (values[target] + factor * values[source] + add) % modulus
    lines = [
        f"{target} = ({target} + {factor} * {source} + {add}) mod {modulus}" for target, factor, source, add in rules
    ]
    opening = ", ".join(f"{name} = {value}" for name, value in begins.items())
    wanted = rules[-1][0]
    question = (
        f"A program starts with {opening}. It runs these assignments in order, {times} times over: "
        f"{'; '.join(lines)}. What is {wanted} at the end?"
    )
    opened = "\n".join(f"{name} = {value}" for name, value in begins.items())
    body = "\n".join(f"    {line.replace('mod', '%')}" for line in lines)
    return number(question, values[wanted], f"{opened}\nfor i in range({times}):\n{body}\nprint({wanted})")
