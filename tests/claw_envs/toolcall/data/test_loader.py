"""Sources: public sets from the hub or a local copy, a file of one's own, and what is told where there is none."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import load_tasks
from claw_envs.toolcall.data.loader import load
from claw_envs.toolcall.data.sets import SETS
from tests.claw_envs.toolcall.data.test_questions import LAYOUTS, dapo


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    return path


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_local_copies(tmp_path: Path, layout: str, ending: str) -> None:
    row, question, answer, _ = LAYOUTS[layout]
    path = write(tmp_path / f"rows.{ending}", [row])
    [task] = load_tasks("toolcall", path)
    assert (task.instruction, task.verifier.options["answer"]) == (question, answer)
    assert task.id.startswith("rows-")
    [named] = load_tasks("toolcall", f"math500:{path}")
    assert named.id == task.id.replace("rows-", "math500-", 1)
    assert named.instruction == question


def test_duplicated_rows_of_a_parquet_file(tmp_path: Path) -> None:
    path = write(tmp_path / "dapo-math-17k.parquet", [dapo(f"What is {n} + 1?", str(n + 1)) for n in range(20)] * 100)
    tasks = load(f"dapo:{path}")
    assert len(tasks) == 20
    assert tasks[3].instruction == "What is 3 + 1?"


def test_public_sets_are_asked_from_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load_dataset(dataset: str, config: str | None, *, split: str) -> list[dict[str, Any]]:
        asked.append((dataset, config, split))
        return [{"question": f"Of {config}?", "answer": "1"}]

    module = ModuleType("datasets")
    module.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", module)
    assert [task.id for task in load("aime25")] == ["aime25-00001", "aime25-00002"]
    assert [task.instruction for task in load("gsm8k-train")] == ["Of main?"]
    assert asked == [
        ("opencompass/AIME2025", "AIME2025-I", "test"),
        ("opencompass/AIME2025", "AIME2025-II", "test"),
        ("openai/gsm8k", "main", "train"),
    ]


@pytest.mark.parametrize("name", SETS)
def test_without_the_hub_the_local_way_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UserError, match=f"name a local copy: {name}:path/to/file.jsonl") as raised:
        load(name)
    assert "\n" not in str(raised.value)


def test_function_calling_is_bfcls(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("tasks")
    module.load = lambda category: [category]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "claw_envs.toolcall.bfcl.tasks", module)
    assert load("bfcl:simple_python") == ["simple_python"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "nowhere.jsonl",
            "no tool-call task set 'nowhere.jsonl': name procedural, dapo, aime24, .* or an existing file",
        ),
        ("aime26", "no tool-call task set 'aime26'"),
        ("aime24:nowhere.jsonl", "aime24:nowhere.jsonl: there is no file nowhere.jsonl"),
        ("procedural:sizes=3", "neither a split"),
    ],
)
def test_unknown_sources(source: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load(source)
