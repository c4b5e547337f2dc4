"""One problem: a question, its exact answer, and a program that prints the answer."""

import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from claw_envs.toolcall.procedural.draw import Draw


class Problem(NamedTuple):
    """What a family makes of a draw. Nothing here is a float."""

    question: str
    answer: Any
    """As `claw_envs.toolcall.answers.check` takes it; numbers are text, since some exceed 64 bits."""
    kind: str
    solution: str
    """A Python program of a few lines, standard library only, that prints the answer."""
    options: dict[str, Any] = {}
    """Of the comparison."""


Family = Callable[[Draw, int], Problem]
"""Makes a problem of a level from 1 (one line of Python) to 5."""


def number(question: str, answer: int | Fraction, solution: str) -> Problem:
    """A problem whose answer is a whole number or a fraction."""
    return Problem(question, str(answer), "numeric", solution, {"rel_tol": 0.0})


def text(question: str, answer: str, solution: str) -> Problem:
    """A problem whose answer is a word, a date, digits in some base: compared as it is written."""
    return Problem(question, answer, "exact", solution)


def members(question: str, answer: Iterable[int], solution: str) -> Problem:
    """A problem whose answer is a set of numbers, in any order."""
    return Problem(question, [str(member) for member in sorted(answer)], "set", solution)


def record(question: str, answer: dict[str, int], solution: str) -> Problem:
    """A problem whose answer is a JSON object."""
    return Problem(question, json.dumps(answer), "json", solution)


def listed(items: Iterable[object]) -> str:
    """Items as a sentence lists them.

    >>> listed([3, 5, 8])
    '3, 5, 8'
    """
    return ", ".join(map(str, items))
