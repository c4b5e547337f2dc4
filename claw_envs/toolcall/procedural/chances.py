"""The family of probabilities, as exact fractions: dice, urns, coins."""

from fractions import Fraction
from math import comb

from claw_envs.toolcall.procedural.counting import SUMS, sums
from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, number

_ASK = "Answer with a fraction in lowest terms."


def probability(draw: Draw, level: int) -> Problem:
    """Dice, urns and coins; the answer is a fraction."""
    return (_one_die, _two_dice, _urn, _several_dice, _coin)[level - 1](draw)


def _one_die(draw: Draw) -> Problem:
    """A die that shows some number or more."""
    sides = draw.between(4, 60)
    low = draw.between(2, sides)
    question = draw.choice(
        (
            f"A die has the sides 1 to {sides}. With what probability does it show {low} or more?",
            f"With sides from 1 to {sides}, how likely is a die to show at least {low}?",
        )
    )
    chance = Fraction(sides - low + 1, sides)
    code = f"from fractions import Fraction\nprint(Fraction({sides} - {low} + 1, {sides}))"
    return number(f"{question} Answer with a fraction.", chance, code)


def _two_dice(draw: Draw) -> Problem:
    """Two dice with a sum."""
    first, second = draw.between(4, 30), draw.between(4, 30)
    wanted = draw.between(3, first + second - 1)
    question = f"Two dice have the sides 1 to {first} and 1 to {second}. With what probability is their sum {wanted}?"
    good = sum(1 <= wanted - shown <= second for shown in range(1, first + 1))
    pairs = f"a + b == {wanted} for a in range(1, {first + 1}) for b in range(1, {second + 1})"
    code = f"from fractions import Fraction\nprint(Fraction(sum({pairs}), {first * second}))"
    return number(f"{question} {_ASK}", Fraction(good, first * second), code)


def _urn(draw: Draw) -> Problem:
    """Balls drawn without putting them back."""
    red, blue = draw.between(4, 20), draw.between(4, 20)
    drawn = draw.between(3, 8)
    wanted = draw.between(max(0, drawn - blue), min(red, drawn))
    question = (
        f"A bag holds {red} red and {blue} blue balls. {drawn} are drawn at once. How likely is it that exactly "
        f"{wanted} of them are red?"
    )
    chance = Fraction(comb(red, wanted) * comb(blue, drawn - wanted), comb(red + blue, drawn))
    ways = f"comb({red}, {wanted}) * comb({blue}, {drawn - wanted}), comb({red + blue}, {drawn})"
    code = f"from fractions import Fraction\nfrom math import comb\nprint(Fraction({ways}))"
    return number(f"{question} {_ASK}", chance, code)


def _several_dice(draw: Draw) -> Problem:
    """Dice with a sum or a larger one."""
    dice, sides = draw.between(4, 6), draw.between(5, 12)
    wanted = draw.between(dice + 2, dice * sides - 1)
    question = f"{dice} dice with the sides 1 to {sides} are rolled. How likely is a sum of at least {wanted}?"
    good = sum(count for total, count in sums(dice, 1, sides).items() if total >= wanted)
    code = f"from fractions import Fraction\n{SUMS.format(times=dice, low=1, high=sides + 1)}"
    code += f"print(Fraction(sum(c[s] for s in c if s >= {wanted}), {sides}**{dice}))"
    return number(f"{question} {_ASK}", Fraction(good, sides**dice), code)


def _coin(draw: Draw) -> Problem:
    """A biased coin, tossed several times."""
    below = draw.between(3, 9)
    heads, tosses = Fraction(draw.between(1, below - 1), below), draw.between(6, 12)
    least = draw.between(3, tosses - 1)
    question = (
        f"A coin shows heads with probability {heads}. It is tossed {tosses} times. With what probability does it show "
        f"heads at least {least} times?"
    )
    chance = sum(
        (comb(tosses, k) * heads**k * (1 - heads) ** (tosses - k) for k in range(least, tosses + 1)), Fraction(0)
    )
    code = (
        f"from fractions import Fraction\nfrom math import comb\np = Fraction({heads.numerator}, {heads.denominator})\n"
    )
    code += f"print(sum(comb({tosses}, k) * p**k * (1 - p)**({tosses} - k) for k in range({least}, {tosses + 1})))"
    return number(f"{question} {_ASK}", chance, code)
