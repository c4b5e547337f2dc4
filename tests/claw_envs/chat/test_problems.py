"""The built-in problems are right and held out; other sources load; mistakes are told in one line."""

import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest

from claw_envs.chat.problems import load, number_of
from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import builtin


def test_built_in_problems_are_right_unique_and_split() -> None:
    rows = [msgspec.json.decode(line) for line in (builtin("chat") / "problems.jsonl").read_bytes().splitlines()]
    splits = Counter(row["split"] for row in rows)
    assert splits["heldout"] == 36
    assert splits["train"] >= 96
    assert len({row["question"] for row in rows}) == len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        working, equals, result = row["work"].partition(" = ")
        assert equals
        assert re.fullmatch(r"[\d +*/-]+", working), row
        exact = eval(re.sub(r"(\d+)", r"Fraction(\1)", working), {"Fraction": Fraction})
        assert exact == row["answer"] == int(result), row


def test_default_is_the_student_on_training_problems() -> None:
    tasks = load()
    assert {task.metadata["persona"] for task in tasks} == {"student"}
    assert tasks[0].id == "student-wp-001"
    assert tasks[0].instruction.startswith("Mia has 7 apples")
    assert tasks[0].metadata["answer"] == 12.0
    assert {task.id for task in tasks}.isdisjoint(task.id for task in load("heldout"))
    assert [task.id for task in load("student:train")] == [task.id for task in tasks]


def test_the_teacher_shows_a_pupils_work_right_or_wrong() -> None:
    tasks = load("teacher:heldout")
    assert len(tasks) == 36
    assert Counter(task.metadata["right"] for task in tasks) == {True: 18, False: 18}
    for task in tasks:
        shown = float(task.metadata["work"].rpartition("= ")[2])
        assert (shown == task.metadata["answer"]) is task.metadata["right"]
        assert task.metadata["work"] in task.instruction
        assert task.metadata["name"] in task.instruction
    assert load("teacher")[0].metadata["persona"] == "teacher"


@pytest.mark.parametrize(
    ("answer", "number"),
    [(7, 7.0), ("7.5", 7.5), ("Half of it.\n#### 1,072", 1072.0), ("#### 5\n#### $42 ", 42.0), ("-3", -3.0)],
)
def test_number_of(answer: object, number: float) -> None:
    assert number_of(answer) == number


@pytest.mark.parametrize("answer", ["", "no number", "#### many", None])
def test_number_of_refuses(answer: object) -> None:
    with pytest.raises(UserError, match="not a number"):
        number_of(answer)


def test_gsm8k_rows_from_a_local_file(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    row = {"question": "How many clips?", "answer": "48/2 = <<48/2=24>>24\n#### 72"}
    path.write_bytes(msgspec.json.encode(row) + b"\n")
    [task] = load(str(path))
    assert (task.id, task.instruction, task.metadata["answer"]) == ("student-00001", "How many clips?", 72.0)
    [task] = load(f"teacher:{path}")
    assert task.metadata["work"] == "The answer is 72"


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "test.parquet"
    parquet.write_table(pyarrow.table({"question": ["How many clips?"], "answer": ["#### 72"]}), path)
    assert [task.metadata["answer"] for task in load(str(path))] == [72.0]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nobody:train", "no persona 'nobody'; there are: student, teacher"),
        ("nowhere.jsonl", "no chat task set 'nowhere.jsonl'"),
    ],
)
def test_unknown_sources(source: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load(source)


@pytest.mark.parametrize(
    ("content", "message"),
    [('{"question": "q"', "line 1: not a JSON object"), ('{"question": "q"}', "row 1: a problem needs")],
)
def test_bad_rows(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        load(str(path))
