"""Families of ways to write numbers: digits in a base, Roman numerals."""

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, number, text

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_HIGH = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"))
_ROMAN = (*_HIGH, (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
_WRITE = """def digits(n):
    s = ''
    while n:
        s = '0123456789abcdefghijklmnopqrstuvwxyz'[n % {base}] + s
        n //= {base}
    return s
"""
_READ_ROMAN = """def value(r):
    v = [{'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100, 'D': 500, 'M': 1000}[c] for c in r]
    return sum(-a if a < b else a for a, b in zip(v, v[1:] + [0]))
"""
_WRITE_ROMAN = f"""def roman(n):
    s = ''
    for v, r in {_ROMAN}:
        s += r * (n // v)
        n %= v
    return s
"""


def bases(draw: Draw, level: int) -> Problem:
    """Numbers in base 2 and 16, in any base, from one base to another; products of such numbers."""
    if level == 1:
        value = draw.between(9, 4_095)
        question, code, answer = draw.choice(
            (
                (f"Write {value} in binary.", f"bin({value})[2:]", f"{value:b}"),
                (f"Write {value} in hexadecimal.", f"hex({value})[2:]", f"{value:x}"),
            )
        )
        return text(question, answer, f"print({code})")
    first, base = draw.sample([*range(3, 10), *range(11, 37)], 2)
    given = draw.digits((0, 5, 9, 12, 15)[level - 1])
    shown = _written(given, first)
    if level == 2:
        question = draw.choice(
            (f"Which decimal number is {shown} in base {first}?", f"Convert {shown} from base {first} to decimal.")
        )
        return number(question + _note(first), given, f"print(int('{shown}', {first}))")
    if level == 3:
        question = draw.choice(
            (f"Write the decimal number {given} in base {base}.", f"Convert the decimal number {given} to base {base}.")
        )
        return text(question + _note(base), _written(given, base), f"{_WRITE.format(base=base)}print(digits({given}))")
    question = f"The number {shown} is written in base {first}. Write it in base {base}."
    code, result = f"int('{shown}', {first})", given
    if level == 5:
        factor = draw.digits(9)
        other = _written(factor, first)
        question = f"Multiply {shown} by {other}, both written in base {first}. Write the product in base {base}."
        code, result = f"{code} * int('{other}', {first})", given * factor
    question += _note(max(first, base))
    return text(question, _written(result, base), f"{_WRITE.format(base=base)}print(digits({code}))")


def _written(value: int, base: int) -> str:
    written = ""
    while value:
        value, digit = divmod(value, base)
        written = _DIGITS[digit] + written
    return written


def _note(base: int) -> str:
    """How digits above 9 are written, where there are any."""
    return "" if base <= 10 else f" Digits from 10 on are the lowercase letters from a to {_DIGITS[base - 1]}."


def roman(draw: Draw, level: int) -> Problem:
    """Roman numerals read, written, added, put in order."""
    if level == 1:
        value = int("".join(draw.choice("01235678") for _ in range(3))) or 1
        numeral = roman_numeral(value)
        question = draw.choice(
            (f"Which number is the Roman numeral {numeral}?", f"What is {numeral} as a decimal number?")
        )
        worth = "{'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100, 'D': 500}"
        return number(question, value, f"print(sum({worth}[c] for c in '{numeral}'))")
    if level == 2:
        value = draw.between(100, 3_999)
        question = draw.choice((f"Write {value} as a Roman numeral.", f"What is {value} in Roman numerals?"))
        return text(question, roman_numeral(value), f"{_WRITE_ROMAN}print(roman({value}))")
    values = draw.numbers((3, 4, 8)[level - 3], 11, 3_999 if level == 5 else 999)
    numerals = [roman_numeral(value) for value in values]
    if level == 5:
        question = f"Sort these Roman numerals by value: {', '.join(numerals)}. What is the sum of the three largest?"
        code = f"{_READ_ROMAN}print(sum(sorted(map(value, {numerals}))[-3:]))"
        return number(f"{question} Answer with a decimal number.", sum(sorted(values)[-3:]), code)
    shown = " + ".join(numerals)
    if level == 3:
        code = f"{_READ_ROMAN}print(sum(map(value, {numerals})))"
        return number(f"What is {shown} as a decimal number?", sum(values), code)
    code = f"{_READ_ROMAN}{_WRITE_ROMAN}print(roman(sum(map(value, {numerals}))))"
    return text(f"What is {shown}? Answer with a Roman numeral.", roman_numeral(sum(values)), code)


def roman_numeral(value: int) -> str:
    """The Roman numeral of a number from 1 to 3999.

    >>> roman_numeral(1994)
    'MCMXCIV'
    """
    written = ""
    for worth, numeral in _ROMAN:
        written += numeral * (value // worth)
        value %= worth
    return written
