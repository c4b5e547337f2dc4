"""Families of number theory: divisors in common, powers, primes, divisors, remainders."""

from functools import lru_cache
from math import gcd as common
from math import isqrt, lcm

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, listed, number


def gcd(draw: Draw, level: int) -> Problem:
    """Greatest common divisors and least common multiples, of two numbers up to a whole range."""
    if level == 4:
        low = draw.between(2, 200)
        high = low + draw.between(10, 30)
        question = draw.choice(
            (
                f"What is the least common multiple of all whole numbers from {low} to {high}?",
                f"Find the smallest positive number that every whole number from {low} to {high} divides.",
            )
        )
        return number(question, lcm(*range(low, high + 1)), f"import math\nprint(math.lcm(*range({low}, {high + 1})))")
    shared, count, size = ((30, 2, 30), (900, 2, 999), (40, 3, 99), (0, 0, 0), (9_000, 4, 99_999))[level - 1]
    factor = draw.between(2, shared)
    values = [factor * multiple for multiple in draw.sample(range(2, size), count)]
    what, function = ("least common multiple", lcm) if level == 3 else ("greatest common divisor", common)
    short = "lcm" if level == 3 else "gcd"
    given = f"{listed(values[:-1])} and {values[-1]}"
    question = draw.choice((f"What is the {what} of {given}?", f"Find the {what} ({short}) of {given}."))
    return number(question, function(*values), f"import math\nprint(math.{short}({listed(values)}))")


def powers(draw: Draw, level: int) -> Problem:
    """Remainders of powers; a tower of powers at level 5."""
    low, high = ((3, 9), (20, 99), (10**4, 10**6), (10**9, 10**12), (100, 999))[level - 1]
    base, exponent = draw.between(2, 12 if level == 1 else 9_999), draw.between(low, high)
    modulus = draw.between(*((3, 20), (21, 99), (1_000, 9_999), (10**8, 10**9), (10**5, 10**6))[level - 1])
    shown, code = f"{base}^{exponent}", f"pow({base}, {exponent}, {modulus})"
    answer = pow(base, exponent, modulus)
    if level == 5:
        top = draw.between(50, 400)
        shown = f"{base}^({exponent}^{top})"
        code, answer = f"pow({base}, {exponent}**{top}, {modulus})", pow(base, exponent**top, modulus)
    question = draw.choice(
        (f"What is the remainder when {shown} is divided by {modulus}?", f"What is {shown} modulo {modulus}?")
    )
    return number(question, answer, f"print({code})")


def primes(draw: Draw, level: int) -> Problem:
    """Primes in a range, counted or added; the largest prime factor; the n-th prime."""
    if level == 4:
        factors = draw.sample(_primes(2, 30), 2) + draw.sample(_primes(1_000, 3_000), 3)
        product = factors[0] * factors[1] * factors[2] * factors[3] * factors[4]
        code = (
            f"n = {product}\np = 2\nwhile p * p <= n:\n    if n % p == 0:\n        n //= p\n    else:\n        p += 1"
        )
        return number(f"What is the largest prime factor of {product}?", max(factors), f"{code}\nprint(n)")
    test = "all(n % d for d in range(2, int(n ** 0.5) + 1))"
    if level == 5:
        rank = draw.between(500, 3_000)
        code = f"n, left = 1, {rank}\nwhile left:\n    n += 1\n    left -= {test}\nprint(n)"
        question = f"The first prime number is 2. Which prime number is number {rank}?"
        return number(question, _primes(2, 30_000)[rank - 1], code)
    low = draw.between(*((2, 60), (50, 900), (500, 5_000))[level - 1])
    high = low + draw.between(*((10, 40), (60, 300), (100, 900))[level - 1])
    found = _primes(low, high)
    ask = draw.choice(("How many prime numbers are there", "Count the prime numbers"))
    term, answer = "1", len(found)
    if level > 1 and draw.below(2):
        ask, term, answer = "What is the sum of the prime numbers", "n", sum(found)
    code = f"print(sum({term} for n in range({low}, {high + 1}) if {test}))"
    return number(f"{ask} from {low} to {high}{'.' if ask.startswith('Count') else '?'}", answer, code)


def divisors(draw: Draw, level: int) -> Problem:
    """Divisors of a number, counted or added; Euler's totient; the divisors of all numbers up to a bound."""
    top = ((10, 999), (1_000, 4_000), (5_000, 90_000), (1_000, 20_000), (500, 9_000))[level - 1]
    given = draw.between(*top)
    found = [d for d in range(1, given + 1) if given % d == 0]
    if level == 4:
        coprime = sum(common(k, given) == 1 for k in range(1, given + 1))
        question = f"How many whole numbers from 1 to {given} have no divisor in common with {given} except 1?"
        code = f"import math\nprint(sum(math.gcd(k, {given}) == 1 for k in range(1, {given + 1})))"
        return number(question, coprime, code)
    if level == 5:
        question = f"What is the sum, over all whole numbers n from 1 to {given}, of the number of divisors of n?"
        code = f"n = {given}\nprint(sum(1 for d in range(1, n + 1) for m in range(d, n + 1, d)))"
        return number(question, sum(given // d for d in range(1, given + 1)), code)
    ask, code, answer = draw.choice(
        (
            (f"How many divisors does {given} have?", "1", len(found)),
            (f"What is the sum of all divisors of {given}?", "d", sum(found)),
        )
    )
    return number(ask, answer, f"print(sum({code} for d in range(1, {given + 1}) if {given} % d == 0))")


def remainders(draw: Draw, level: int) -> Problem:
    """Remainders; inverses modulo a number; the least number with given remainders."""
    if level == 1:
        given, divisor = draw.digits(4), draw.between(3, 99)
        question = draw.choice(
            (f"What is the remainder when {given} is divided by {divisor}?", f"What is {given} modulo {divisor}?")
        )
        return number(question, given % divisor, f"print({given} % {divisor})")
    if level == 2:
        modulus = draw.choice(_primes(50, 2_000))
        given = draw.between(2, modulus - 1)
        question = (
            f"Which whole number from 1 to {modulus - 1}, multiplied by {given}, leaves remainder 1 when divided by "
            f"{modulus}?"
        )
        return number(question, pow(given, -1, modulus), f"print(pow({given}, -1, {modulus}))")
    moduli = draw.sample(_primes(5, 30 if level == 3 else 100), level - 1)
    wanted = [draw.below(modulus) for modulus in moduli]
    pairs = list(zip(wanted, moduli, strict=True))
    conditions = " and ".join(f"remainder {rest} when divided by {modulus}" for rest, modulus in pairs)
    question = f"What is the smallest positive whole number that leaves {conditions}?"
    answer, step = 0, 1
    for rest, modulus in pairs:
        answer += step * ((rest - answer) * pow(step, -1, modulus) % modulus)
        step *= modulus
    code = f"x, s = 0, 1\nfor r, m in {pairs}:\n    while x % m != r:\n        x += s\n    s *= m\nprint(x or s)"
    return number(question, answer or step, code)


@lru_cache(maxsize=16)
def _primes(low: int, high: int) -> list[int]:
    """The primes from `low` to `high`."""
    return [n for n in range(max(low, 2), high + 1) if all(n % d for d in range(2, isqrt(n) + 1))]
