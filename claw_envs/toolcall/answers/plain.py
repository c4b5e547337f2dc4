"""Comparing answers that are no formulas: text, numbers within a tolerance, sets, JSON. No process is needed.

Each function takes the expected answer and the answer, and options that a task may set.
"""

import json
import math
import re
from collections.abc import Collection
from fractions import Fraction
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.toolcall.answers.notation import key, number, tidy
from claw_envs.toolcall.answers.quantity import clash, quantity
from claw_envs.toolcall.answers.structure import Node, alike, read
from claw_envs.toolcall.answers.verdict import Verdict

_DRESS = re.compile(
    r"\$\s*\\text\{([^{}]*)\}\s*\$|\\(?:text|texttt|textbf|mathrm)\{([^{}]*)\}|\$([^$]*)\$|\"([^\"]*)\"|'([^']*)'|`([^`]*)`"
)


def exact(gold: Any, answer: str, *, case: bool = False, space: bool = False) -> Verdict:
    """The same text, whatever it is dressed in: quotes, dollars, `\\text{...}`.

    Args:
        case: upper and lower case differ.
        space: white space counts; else a run of it is one space, and none at the ends.
    """
    texts = [_undressed(str(gold)), _undressed(answer)]
    if not space:
        texts = [" ".join(text.split()) for text in texts]
    if not case:
        texts = [text.casefold() for text in texts]
    return _verdict(texts[0] == texts[1], "the same text", "another text")


def _undressed(text: str) -> str:
    dressed = _DRESS.fullmatch(text.strip())
    return next(group for group in dressed.groups() if group is not None) if dressed else text


def numeric(
    gold: Any, answer: str, *, rel_tol: float = 1e-6, abs_tol: float = 0.0, units: bool = False, percent: bool = True
) -> Verdict:
    """A number with |answer - gold| <= max(rel_tol |gold|, abs_tol), reckoned exactly.

    Args:
        units: the unit of the expected answer must be there; else only another known unit is wrong.
        percent: 50% is 0.5; else the sign is dropped.
    """
    expected, given = (quantity(tidy(text), variables=False) for text in (str(gold), answer))
    one, other = number(expected.body), number(given.body)
    if one is None:
        raise UserError(f"the expected answer {str(gold)[:200]!r} is no number, which kind numeric compares")
    if other is None:
        return Verdict(False, "the answer is no number")
    if clash(expected, given) or (units and expected.unit != given.unit):
        return Verdict(False, f"in {given.unit} and not in {expected.unit}")
    if percent:
        one, other = (value / 100 if q.percent else value for value, q in ((one, expected), (other, given)))
    near = abs(other - one) <= max(Fraction(rel_tol) * abs(one), Fraction(abs_tol))
    return _verdict(near, "within the tolerance", "not within the tolerance")


def unordered(gold: Any, answer: str, *, multiset: bool = False) -> Verdict:
    """The same elements in any order; brackets around the whole do not matter, those of an element do.

    Args:
        gold: text, or a collection of elements.
        multiset: each as often as in `gold`; else repeated elements count once.
    """
    given = not isinstance(gold, str) and isinstance(gold, Collection)
    parts = tuple(read(tidy(str(element))) for element in gold) if given else _elements(str(gold))
    kind = "list" if multiset else "set"
    correct = alike(Node(kind, "", parts), Node(kind, "", _elements(answer)), _same_element)
    return _verdict(correct, "the same elements", "other elements")


def _elements(text: str) -> tuple[Node, ...]:
    node = read(tidy(text))
    if node.kind in ("list", "set", "group"):
        return node.parts
    return (node,) if node.text else ()


def _same_element(gold: str, answer: str) -> bool:
    one, other = (key(element).strip("'\"`") for element in (gold, answer))
    values = number(one), number(other)
    if None not in values:
        return values[0] == values[1]
    return one.casefold() == other.casefold()


def same_json(gold: Any, answer: str, *, rel_tol: float = 0.0, abs_tol: float = 0.0) -> Verdict:
    """The same JSON value: keys in any order, numbers within a tolerance, true is not 1.

    Args:
        gold: a JSON value; text is read as JSON where it is some.
    """
    try:
        expected = _loads(gold) if isinstance(gold, str) else _loads(json.dumps(gold, allow_nan=False))
    except (ValueError, TypeError, RecursionError) as error:
        if not isinstance(gold, str):
            raise UserError(f"the expected answer is no JSON: {error}") from None
        expected = gold
    try:
        value = _loads(answer)
        correct = _same_value(expected, value, rel_tol, abs_tol)
    except (ValueError, RecursionError, OverflowError) as error:
        return Verdict(False, f"the answer cannot be read as JSON: {str(error)[:100]}")
    return _verdict(correct, "the same value", "another value")


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON's")


def _same_value(gold: Any, value: Any, rel_tol: float, abs_tol: float) -> bool:
    if isinstance(gold, dict) and isinstance(value, dict):
        return gold.keys() == value.keys() and all(_same_value(gold[k], value[k], rel_tol, abs_tol) for k in gold)
    if isinstance(gold, list) and isinstance(value, list):
        same_length = len(gold) == len(value)
        return same_length and all(_same_value(g, v, rel_tol, abs_tol) for g, v in zip(gold, value, strict=True))
    if _is_number(gold) and _is_number(value):
        near = rel_tol + abs_tol > 0 and math.isclose(gold, value, rel_tol=rel_tol, abs_tol=abs_tol)
        return near or bool(gold == value)
    return type(gold) is type(value) and bool(gold == value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _verdict(correct: bool, yes: str, no: str) -> Verdict:
    return Verdict(correct, yes if correct else no)
