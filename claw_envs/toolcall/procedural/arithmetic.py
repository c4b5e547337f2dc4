"""Families of arithmetic: products, expressions, digits of large numbers, fractions."""

from fractions import Fraction
from math import factorial, prod

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, listed, number


def product(draw: Draw, level: int) -> Problem:
    """Products of two to four factors of two to nine digits."""
    sizes = ((2, 3), (4, 4), (6, 6), (6, 7, 8), (9, 9, 9, 9))[level - 1]
    factors = [draw.digits(size) for size in sizes]
    written = " * ".join(map(str, factors))
    question = draw.choice(
        (
            f"What is {written}?",
            f"Compute {written}.",
            f"Multiply {' by '.join(map(str, factors))}.",
        )
    )
    return number(question, prod(factors), f"print({written})")


def expression(draw: Draw, level: int) -> Problem:
    """Sums of products, with brackets from level 2 and powers from level 4."""
    terms, depth = ((2, 0), (3, 1), (4, 1), (4, 1), (3, 2))[level - 1]
    written, value = _sum(draw, terms, depth, powers=level >= 4)
    question = draw.choice((f"What is {written}?", f"Evaluate {written}.", f"Calculate {written}."))
    return number(question.replace("**", "^"), value, f"print({written})")


def _sum(draw: Draw, terms: int, depth: int, *, powers: bool) -> tuple[str, int]:
    """A sum and its value; one term in two is a product, whose factors may be sums in brackets."""
    written, value = "", 0
    for index in range(terms):
        factors = [_factor(draw, depth, powers=powers) for _ in range(1 + (index % 2 or draw.below(2)))]
        sign = "" if not written else draw.choice((" + ", " - "))
        written += sign + " * ".join(factor for factor, _ in factors)
        size = prod(worth for _, worth in factors)
        value += -size if sign == " - " else size
    return written, value


def _factor(draw: Draw, depth: int, *, powers: bool) -> tuple[str, int]:
    if depth and draw.below(2):
        written, value = _sum(draw, 2, depth - 1, powers=powers)
        return f"({written})", value
    base = draw.between(2, 99)
    if powers and draw.below(3) == 0:
        exponent = draw.between(2, 5)
        return f"{base}**{exponent}", base**exponent
    return str(base), base


def digits(draw: Draw, level: int) -> Problem:
    """Digits of a given number, of powers and of factorials: their sum, or how often one occurs."""
    if level == 1:
        given = draw.digits(draw.between(5, 8))
        question = draw.choice((f"What is the sum of the digits of {given}?", f"Add up the digits of {given}."))
        return number(question, sum(map(int, str(given))), f"print(sum(int(d) for d in str({given})))")
    base, exponent = draw.between(2, 99), draw.between(*((10, 40), (50, 150), (60, 160), (200, 600))[level - 2])
    shown, code, value = f"{base}^{exponent}", f"{base}**{exponent}", base**exponent
    if level >= 4:
        top = draw.between(30, 120)
        shown, code = f"{shown} + {top}!", f"{code} + factorial({top})"
        value += factorial(top)
    code = f"{'from math import factorial' * (level >= 4)}\nn = {code}\n".lstrip()
    if level == 5 or (level == 3 and draw.below(2)):
        digit = draw.below(10)
        question = f"How often does the digit {digit} occur in the decimal digits of {shown}?"
        return number(question, str(value).count(str(digit)), f"{code}print(str(n).count('{digit}'))")
    question = draw.choice((f"What is the sum of the decimal digits of {shown}?", f"Add up the digits of {shown}."))
    return number(question, sum(map(int, str(value))), f"{code}print(sum(int(d) for d in str(n)))")


def fractions(draw: Draw, level: int) -> Problem:
    """Sums of fractions, continued fractions, sums of a series; the answer is an exact fraction."""
    if level == 4:
        terms = draw.numbers(7, 1, 12)
        value = Fraction(terms[-1])
        for term in reversed(terms[:-1]):
            value = term + 1 / value
        question = (
            f"What is the value of the continued fraction [{terms[0]}; {listed(terms[1:])}]? "
            "Answer with a fraction in lowest terms."
        )
        code = f"t = {terms}\nx = Fraction(t[-1])\nfor a in t[-2::-1]:\n    x = a + 1 / x\nprint(x)"
        return number(question, value, f"from fractions import Fraction\n{code}")
    if level == 5:
        low, shift = draw.between(2, 60), draw.between(1, 40)
        high = low + draw.between(5, 15)
        question = (
            f"What is the sum of 1/(k * (k + {shift})) for all whole numbers k from {low} to {high}? "
            "Answer with a fraction in lowest terms."
        )
        value = sum((Fraction(1, k * (k + shift)) for k in range(low, high + 1)), Fraction(0))
        code = f"print(sum(Fraction(1, k * (k + {shift})) for k in range({low}, {high + 1})))"
        return number(question, value, f"from fractions import Fraction\n{code}")
    count, top = ((2, 12), (3, 60), (5, 99))[level - 1]
    parts = [Fraction(draw.between(1, low - 1), low) for low in draw.numbers(count, 3, top)]
    shown = " + ".join(map(str, parts))
    question = draw.choice((f"What is {shown} as a fraction?", f"Add {shown}. Answer with a fraction."))
    code = " + ".join(f"Fraction({part.numerator}, {part.denominator})" for part in parts)
    return number(question, sum(parts, Fraction(0)), f"from fractions import Fraction\nprint({code})")
