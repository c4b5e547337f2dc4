"""Makes tasks of procedural problems: the same ones for the same words, everywhere.

A split is a share of all problems, told by a hash of a problem's own program and not of its wording. So no problem of
one split is in another, whatever the seed and the count.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import cycle, islice

from claw_envs.core.errors import UserError
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.toolcall.interpreter.machine import MACHINE
from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem
from claw_envs.toolcall.procedural.registry import FAMILIES, LEVELS

SPLITS = {"train": range(0, 8), "dev": range(8, 9), "heldout": range(9, 10)}
"""The tenths of all problems that each split has."""

_LIMITS = Limits(max_steps=8, step_timeout=10.0)
_TRIES = 2_000


def generate(
    *,
    families: Sequence[str] | None = None,
    levels: Sequence[int] = (1, 2, 3),
    count: int = 280,
    seed: int = 0,
    split: str = "train",
) -> list[Task]:
    """Make `count` tasks, the families and levels in turn.

    Args:
        families: names; None for all.
        levels: from 1 (one line of Python solves it) to 5.
        count: how many tasks; a longer set begins with the shorter one.
        seed: another seed gives other problems of the same split.
        split: `train`, `dev` or `heldout`.

    Raises:
        UserError: if there is no such family, level or split, or a family has not that many different problems.
    """
    families = list(FAMILIES) if families is None else list(families)
    _check(families, levels, count, split)
    sources = [_tasks(family, level, split, seed) for level in levels for family in families]
    return [next(source) for source in islice(cycle(sources), count)]


def _check(families: Sequence[str], levels: Sequence[int], count: int, split: str) -> None:
    for family in families:
        if family not in FAMILIES:
            raise UserError(f"no family of problems {family!r}; there are: {', '.join(FAMILIES)}")
    for level in levels:
        if level not in LEVELS:
            raise UserError(f"no level {level}; there are {LEVELS[0]} to {LEVELS[-1]}")
    if split not in SPLITS:
        raise UserError(f"no split {split!r}; there are: {', '.join(SPLITS)}")
    if not families or not levels or count < 1:
        raise UserError("name at least one family, one level and a count of at least 1")


def _tasks(family: str, level: int, split: str, seed: int) -> Iterator[Task]:
    """Tasks of one family and level, each problem once."""
    draw = Draw(f"{family}/{level}/{split}/{seed}")
    marks = "".join([f"-{split}" * (split != "train"), f"-s{seed}" * (seed != 0)])
    seen: set[str] = set()
    while True:
        for _ in range(_TRIES):
            problem = FAMILIES[family](draw, level)
            if problem.solution not in seen and _share(problem) in SPLITS[split]:
                break
        else:
            raise UserError(f"{family} at level {level} has only about {len(seen)} different problems in {split}")
        yield _task(problem, family, level, f"{family}-l{level}{marks}-{len(seen):06d}")
        seen.add(problem.solution)


def _share(problem: Problem) -> int:
    """Which tenth of all problems this one is in."""
    return sha256(problem.solution.encode()).digest()[0] % 10


def _task(problem: Problem, family: str, level: int, task_id: str) -> Task:
    return Task(
        id=task_id,
        family="toolcall",
        instruction=problem.question,
        verifier=VerifierSpec(
            kind="answer", options={"answer": problem.answer, "kind": problem.kind, **problem.options}
        ),
        limits=_LIMITS,
        sandbox=MACHINE,
        metadata={"generator": family, "level": level, "solution": problem.solution},
    )
