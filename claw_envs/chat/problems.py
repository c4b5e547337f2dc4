"""Loads chat tasks: our own word problems, GSM8K from the hub, or a local JSON-lines or parquet file.

A source is written `PERSONA:SET`, either half may be left out. PERSONA is `student` (default) or `teacher`; SET is
`train` (default), `dev` (for tuning), `heldout` (for scoring), `gsm8k` (the hub's test split), `gsm8k-train`, or the
path of a file whose rows hold `question` and `answer` (a number, or a GSM8K solution that ends in `#### 42`).
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from claw_envs.chat.phrases import phrases
from claw_envs.core.errors import UserError
from claw_envs.core.rows import Row, hub_rows, read_rows
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.core.tasksets import builtin

PERSONAS = ("student", "teacher")
_LIMITS = Limits(max_steps=3)


def load(source: str | None = None) -> list[Task]:
    """Load the tasks that `source` names.

    Raises:
        UserError: if the persona, the set or the file does not exist, or a row is not a problem.
    """
    persona, _, name = (source or "").rpartition(":")
    if name in PERSONAS and not persona:
        persona, name = name, ""
    persona = persona or PERSONAS[0]
    if persona not in PERSONAS:
        raise UserError(f"no persona {persona!r}; there are: {', '.join(PERSONAS)}")
    return [_task(row, index, persona) for index, row in enumerate(_rows(name or "train"))]


def number_of(answer: Any) -> float:
    """The number in an answer: itself, or what follows `####` in a GSM8K solution.

    >>> number_of("She sold 24 + 48 = <<24+48=72>>72 clips.\\n#### 1,072")
    1072.0

    Raises:
        UserError: if there is none.
    """
    text = str(answer).rpartition("####")[2].strip().replace(",", "").removeprefix("$")
    try:
        return float(text)
    except ValueError:
        raise UserError(f"not a number, and no solution that ends in '#### 42': {str(answer)[:80]!r}") from None


def _rows(name: str) -> Iterable[Row]:
    if name in ("train", "dev", "heldout"):
        return [row for row in read_rows(builtin("chat") / "problems.jsonl") if row["split"] == name]
    if name in ("gsm8k", "gsm8k-train"):
        split = "train" if name.endswith("train") else "test"
        return hub_rows("openai/gsm8k", "main", split, instead="path/to/file.jsonl (or .parquet)")
    path = Path(name)
    if not path.is_file():
        raise UserError(f"no chat task set {name!r}: name train, dev, heldout, gsm8k, gsm8k-train or an existing file")
    return read_rows(path)


def _task(row: Row, index: int, persona: str) -> Task:
    if not isinstance(row.get("question"), str) or "answer" not in row:
        raise UserError(f"row {index + 1}: a problem needs `question` (text) and `answer`; it has {sorted(row)}")
    answer = number_of(row["answer"])
    metadata = {"persona": persona, "question": row["question"], "answer": answer}
    instruction = row["question"]
    if persona == "teacher":
        metadata |= _students_work(answer, index, row.get("work"))
        instruction = (
            f'My student {metadata["name"]} worked on this: "{row["question"]}" {metadata["name"]} wrote: '
            f'"{metadata["work"]}" The right answer is {answer:g}. What comment could I write under it?'
        )
    return Task(
        id=f"{persona}-{row.get('id', f'{index + 1:05d}')}",
        family="chat",
        instruction=instruction,
        verifier=VerifierSpec(kind="simulator"),
        limits=_LIMITS,
        metadata=metadata,
    )


def _students_work(answer: float, index: int, work: str | None) -> dict[str, Any]:
    """A pupil's name and work; every second pupil is off by one or two."""
    names = phrases().names
    slip = (0, 1, 0, -2)[index % 4]
    done = work if work else f"The answer is {answer:g}"
    wrong = re.sub(r"-?[\d.]+$", f"{answer + slip:g}", done)
    return {"name": names[index % len(names)], "work": wrong, "right": slip == 0}
