"""Compares a family's answers with those that a test reckons from the wording of the questions alone."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from claw_envs.core.task import Task
from claw_envs.toolcall.procedural.generator import generate

LEVELS = (1, 2, 3, 4, 5)


def problems(family: str, level: int, count: int = 50) -> list[Task]:
    return generate(families=[family], levels=[level], count=count)


def answer_of(task: Task) -> Any:
    """The expected answer as a value: a fraction, a text, a set of numbers, an object."""
    options = task.verifier.options
    kind, answer = options["kind"], options["answer"]
    assert options.keys() == {"answer", "kind"} | ({"rel_tol"} if kind == "numeric" else set())
    return {"numeric": Fraction, "exact": str, "set": lambda all_: set(map(int, all_)), "json": json.loads}[kind](
        answer
    )


def agree(family: str, level: int, reckon: Callable[[str, int], Any], count: int = 50) -> None:
    """Assert that `reckon(question, level)` is the answer of `count` problems."""
    for task in problems(family, level, count):
        assert answer_of(task) == reckon(task.instruction, level), task.instruction


def numbers(text: str) -> list[int]:
    """The whole numbers in `text`."""
    return [int(found) for found in re.findall(r"-?\d+", text)]


def quoted(text: str) -> list[str]:
    """What is in quotes in `text`."""
    return re.findall(r"'([^']*)'", text)
