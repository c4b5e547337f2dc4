r"""Whether two mathematical answers are the same, by math-verify, with what it accepts wrongly caught. For a worker.

math-verify parses and compares; its alarms are off, as the worker's limits are the kernel's. Around it: structure is
compared apart (`structure.py`), constants are compared exactly or to 40 digits instead of 6 decimals, a formula must
also agree where numbers are put in, and an equation is only taken for its right side where its left is a name.
"""

import re
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended.latex2sympy2 import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify
from sympy.core.relational import Relational

from claw_envs.toolcall.answers.notation import WORDS, key, number, tidy
from claw_envs.toolcall.answers.quantity import Quantity, clash, quantity
from claw_envs.toolcall.answers.quick import are_words
from claw_envs.toolcall.answers.structure import Node, alike, read

_DIGITS = 60
_AGREE = sympy.Float("1e-40", _DIGITS)
_APART_BY = sympy.Float("1e-20", _DIGITS)
_POINTS = (sympy.Rational(137, 89), sympy.Rational(211, 97), sympy.Rational(71, 113))
_CONFIG = [
    LatexExtractionConfig(
        boxed_match_priority=-1,
        normalization_config=NormalizationConfig(malformed_operators=True, nits=True, boxed="none"),
    )
]
_MIXED = re.compile(r"(?<![\w.}])(\d+) ?(?:\\frac\{(\d+)\}\{(\d+)\}|(?<= )(\d+)/(\d+))")
_SCIENTIFIC = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[eE]([-+]?\d+)(?!\w)")
_DECIMAL = re.compile(r"(\d*)\.(\d+)|(?<=\d),(?=\d{3})")
_DEGREES = re.compile(r"(\d+(?:\.\d+)?)\s?\^\\circ")
_APART = re.compile(r"\d \d")
"""Two numbers side by side, which math-verify adds."""
_NAME = re.compile(r"(?!\\pi(?![a-z]))(?:[a-zA-Z]|\\[a-z]+)(?:_\{?\w\}?)?(?:\([a-z]\))?")


def unreadable(gold: str) -> str:
    """Why `gold` cannot be compared with anything; empty where it can."""
    try:
        unread = [leaf for leaf in _leaves(read(tidy(gold))) if _unparsed(leaf)]
    except MemoryError:
        raise
    except Exception as error:  # whatever it makes the libraries raise
        return type(error).__name__
    return f"{unread[0]!r} is no formula" if unread else ""


def compare(gold: str, answer: str) -> tuple[bool, str]:
    """Whether `answer` is `gold`, and why."""
    try:
        correct = alike(read(tidy(gold)), read(tidy(answer)), same)
    except MemoryError:
        raise
    except Exception as error:  # whatever the answer makes the libraries raise
        return False, f"the answer cannot be compared: {type(error).__name__}"
    return correct, "the same in value" if correct else "not the same in value"


def _leaves(node: Node) -> list[str]:
    return [node.text] if node.kind == "leaf" else [leaf for part in node.parts for leaf in _leaves(part)]


def _unparsed(leaf: str) -> bool:
    body = quantity(leaf).body
    return not are_words(leaf) and number(body) is None and all(_expression(side) is None for side in body.split("="))


def same(gold: str, answer: str) -> bool:
    """Whether two texts without structure are the same."""
    if are_words(gold):
        return key(gold).casefold() == key(answer).casefold()
    one, other = quantity(gold), quantity(answer)
    if clash(one, other):
        return False
    named, value, other_named, other_value = *_assigned(one.body), *_assigned(other.body)
    if "=" in value + other_value or (named and other_named and named != other_named):
        return _equal(one.body, other.body)
    return _quantities(one._replace(body=value), other._replace(body=other_value))


def _assigned(text: str) -> tuple[str, str]:
    """The name and the value of `x = 5`, also of `x = 2 + 3 = 5`; ("", text) of anything else."""
    *before, value = [side.strip() for side in text.split("=")]
    if not before:
        return "", text
    name = before[0] if _NAME.fullmatch(before[0]) else ""
    steps = before[1:] if name else before
    worked_out = (name or number(value) is not None) and all(_equal(value, step) for step in steps)
    return (name, value) if worked_out else ("", text)


def _quantities(gold: Quantity, answer: Quantity) -> bool:
    """A percent sign that only one side has may have been left out, or the number be the value: 50% is 50 and 1/2."""
    if gold.percent == answer.percent:
        return _equal(gold.body, answer.body)
    with_sign, without = (gold, answer) if gold.percent else (answer, gold)
    return _equal(with_sign.body, without.body) or _equal(f"\\frac{{{with_sign.body}}}{{100}}", without.body)


def _equal(gold: str, answer: str) -> bool:
    if gold == answer:
        return True
    values = number(gold), number(answer)
    if None not in values:
        return values[0] == values[1]
    one, other = _expression(gold), _expression(answer)
    if one is None or other is None:
        return False
    if isinstance(one, Relational) or isinstance(other, Relational):
        return type(one) is type(other) and _relations(one, other)
    if one == other:
        return True
    symbols = getattr(one, "free_symbols", set()) | getattr(other, "free_symbols", set())
    if not symbols and isinstance(one, sympy.Expr) and isinstance(other, sympy.Expr):
        return _constants(one, other)
    return _agree(one, other, symbols) and _verified(one, other)


def _verified(one: Any, other: Any) -> bool:
    return bool(verify(one, other, timeout_seconds=None, numeric_precision=_DIGITS, raise_on_error=True))


def _constants(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Exactly the same, or to 40 digits where a root or the like is in them. Digits first: they cost the least."""
    left, right = one.evalf(_DIGITS), other.evalf(_DIGITS)
    if not (left.is_number and right.is_number and left.is_finite and right.is_finite):
        return bool(left == right and left is not sympy.nan)
    if abs(left - right) > _AGREE * max(abs(left), abs(right)) and left != 0 and right != 0:
        return False
    one, other = one.doit(), other.doit()
    if one.is_Rational and other.is_Rational:
        return bool(one == other)
    return one == other or (one != 0 and other != 0) or bool((one - other).equals(0))


def _agree(one: Any, other: Any, symbols: set[sympy.Symbol]) -> bool:
    """Whether two formulas take the same value where numbers are put in; True where they take none."""
    if not (isinstance(one, sympy.Expr) and isinstance(other, sympy.Expr)):
        return True
    names = sorted(symbols, key=str)
    for shift in range(2):
        values = {name: _POINTS[(place + shift) % 3] + place for place, name in enumerate(names)}
        left, right = (side.subs(values).evalf(_DIGITS) for side in (one, other))
        numbers = left.is_Number and right.is_Number and left.is_finite and right.is_finite
        if numbers and abs(left - right) > _APART_BY * (abs(left) + abs(right)):
            return False
    return True


def _relations(gold: Relational, answer: Relational) -> bool:
    """An equation is the same times any constant but 0; of others math-verify knows which."""
    if gold.free_symbols != answer.free_symbols:
        return False
    if not isinstance(gold, sympy.Eq):
        return _verified(gold, answer)
    ratio = sympy.simplify((gold.lhs - gold.rhs) / (answer.lhs - answer.rhs))
    return bool(ratio.is_number and ratio.is_finite and ratio != 0)


@lru_cache(maxsize=64)
def _expression(text: str) -> Any:
    """`text` as sympy has it: decimals exact, `i` imaginary; None where it cannot be read."""
    text = _DEGREES.sub(r"(\1\\cdot\\frac{\\pi}{180})", text.replace(WORDS, ""))
    text = _SCIENTIFIC.sub(r"\1\\cdot 10^{\2}", text)
    text = _MIXED.sub(lambda m: f"({m[1]}+\\frac{{{m[2] or m[4]}}}{{{m[3] or m[5]}}})", text)
    text = _DECIMAL.sub(lambda m: (m[2] and f"\\frac{{{int(m[1] + m[2])}}}{{1{'0' * len(m[2])}}}") or "", text)
    if _APART.search(text):
        return None
    found = parse(f"${text}$", _CONFIG, fallback_mode="no_fallback", parsing_timeout=None, raise_on_error=True)
    if not found or not hasattr(found[0], "free_symbols"):
        return None
    symbols = {symbol: _symbol(symbol.name) for symbol in found[0].free_symbols}
    return found[0].subs(symbols) if symbols else found[0]


def _symbol(name: str) -> sympy.Expr:
    return sympy.I if name == "i" else sympy.Symbol(name, real=True)
