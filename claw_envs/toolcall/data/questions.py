"""Turns rows that hold a question and its answer into tasks, whatever their publisher calls the columns.

Question: `question`, `problem`, `Problem` or `prompt` (text, or a chat whose last user message asks). Answer: `answer`
or `Answer`, or `ground_truth` in `reward_model`; a solution that ends in `#### 42` counts as the number. Of use where
they are there: `id`, `kind`, `options` (both for `claw_envs.toolcall.answers.check`), `subject`, `level`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.rows import Row
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.toolcall.answers.check import check_expected
from claw_envs.toolcall.interpreter.machine import MACHINE

QUESTION_COLUMNS = ("question", "problem", "Problem", "prompt")
ANSWER_COLUMNS = ("answer", "Answer", "reward_model")

_ID_COLUMNS = ("id", "ID", "unique_id")
_KEPT = ("subject", "level")
_LIMITS = Limits(max_steps=8, step_timeout=20.0)
_VERDICT_TIMEOUT = 900.0
"""Seconds; a verdict waits its turn behind answers that run over their limits."""
_DAPO = re.compile(
    r"\ASolve the following math problem step by step\..*?\n\n(?P<question>.*?)"
    r"\n\nRemember to put your answer on its own line after \"Answer:\"\.\s*\Z",
    re.DOTALL,
)
"""What DAPO-Math-17k writes around every question: how to answer, which is the system prompt's business here."""


def tasks_of(rows: Iterable[Row], name: str) -> Iterator[Task]:
    """The tasks of `rows`; of rows with one question and one answer, the first.

    Args:
        rows: as the columns above.
        name: of the set; ids begin with it.

    Raises:
        UserError: if a row has no question or no answer, or nothing could be compared with its answer as it says.
    """
    seen: set[tuple[str, str]] = set()
    for number, row in enumerate(rows, 1):
        where = f"{name}, row {number}"
        question, answer = _question(row, where), _answer(row, where)
        if (question, repr(answer)) not in seen:
            seen.add((question, repr(answer)))
            yield _task(row, question, answer, name, len(seen), where)


def _question(row: Row, where: str) -> str:
    found = next((row[column] for column in QUESTION_COLUMNS if column in row), None)
    if isinstance(found, list):
        asked = [turn.get("content") for turn in found if isinstance(turn, dict) and turn.get("role") == "user"]
        found = asked[-1] if asked else None
    if not isinstance(found, str) or not found.strip():
        raise UserError(f"{where}: no question: it needs text as one of {_or(QUESTION_COLUMNS)}; it has {sorted(row)}")
    wrapped = _DAPO.match(found)
    return (wrapped["question"] if wrapped else found).strip()


def _answer(row: Row, where: str) -> Any:
    found = next((row[column] for column in ANSWER_COLUMNS if column in row), None)
    if isinstance(found, dict) and "ground_truth" in found:
        found = found["ground_truth"]
    if found is None or found == "":
        raise UserError(f"{where}: no answer: it needs one of {_or(ANSWER_COLUMNS)}, not empty; it has {sorted(row)}")
    if isinstance(found, str) and "####" in found:
        return found.rpartition("####")[2].strip().replace(",", "").removeprefix("$")
    return str(found) if isinstance(found, int | float) and not isinstance(found, bool) else found


def _task(row: Row, question: str, answer: Any, name: str, position: int, where: str) -> Task:
    options = row.get("options") or {}
    if not isinstance(options, dict):
        raise UserError(f"{where}: options must be an object of options of the check, got {options!r}")
    own = next((row[column] for column in _ID_COLUMNS if row.get(column) is not None), f"{position:05d}")
    kept = {column: row[column] for column in _KEPT if row.get(column) is not None}
    kind, chosen = row.get("kind") or "math", {option: value for option, value in options.items() if value is not None}
    try:
        check_expected(answer, kind, chosen)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error
    return Task(
        id=f"{name}-{re.sub(r'[^A-Za-z0-9._-]+', '-', str(own))}",
        family="toolcall",
        instruction=question,
        verifier=VerifierSpec(
            kind="answer",
            timeout=_VERDICT_TIMEOUT,
            options={"answer": answer, "kind": kind, **chosen},
        ),
        limits=_LIMITS,
        sandbox=MACHINE,
        metadata={"set": name, **kept},
    )


def _or(columns: tuple[str, ...]) -> str:
    return " or ".join(f"`{column}`" for column in columns)
