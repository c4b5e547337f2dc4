"""Loads chat tasks: our own word problems, GSM8K from the hub, or a local JSON-lines or parquet file.

A source is written `PERSONA:SET`, either half may be left out. PERSONA is `student` (default) or `teacher`; SET is
`train` (default), `dev` (for tuning), `heldout` (for scoring), `gsm8k` (the hub's test split), `gsm8k-train`, or the
path of a file whose rows hold `question` and `answer` (a number, or a GSM8K solution that ends in `#### 42`).
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.chat.phrases import phrases
from claw_envs.core.errors import UserError
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


def _rows(name: str) -> Iterable[dict[str, Any]]:
    if name in ("train", "dev", "heldout"):
        return [row for row in _json_lines(builtin("chat") / "problems.jsonl") if row["split"] == name]
    if name in ("gsm8k", "gsm8k-train"):
        return _hub("train" if name.endswith("train") else "test")
    path = Path(name)
    if not path.is_file():
        raise UserError(f"no chat task set {name!r}: name train, dev, heldout, gsm8k, gsm8k-train or an existing file")
    return _parquet(path) if path.suffix == ".parquet" else _json_lines(path)


def _json_lines(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            rows.append(msgspec.json.decode(line, type=dict[str, Any]))
        except msgspec.DecodeError as error:
            raise UserError(f"{path}, line {number}: not a JSON object ({error})") from error
    return rows


def _parquet(path: Path) -> list[dict[str, Any]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise UserError('reading parquet needs pyarrow: pip install "claw-envs[datasets]"') from None
    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def _hub(split: str) -> Iterable[dict[str, Any]]:
    try:
        from datasets import load_dataset
    except ImportError:
        raise UserError('GSM8K from the hub needs datasets: pip install "claw-envs[datasets]"') from None
    rows: Iterable[dict[str, Any]] = load_dataset("openai/gsm8k", "main", split=split)
    return rows


def _task(row: dict[str, Any], index: int, persona: str) -> Task:
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
