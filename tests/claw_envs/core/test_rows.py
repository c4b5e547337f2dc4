"""Rows come from JSON lines, parquet and the hub; mistakes are told in one line."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.rows import hub_rows, read_rows

ROWS = [{"question": "1 + 1?", "answer": "2"}, {"question": "Wie heißt „2“?", "answer": "zwei"}]


def test_json_lines_with_other_line_ends_and_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(
        '{"question": "1 + 1?", "answer": "2"}\r\n\n{"question": "Wie heißt „2“?", "answer": "zwei"}'.encode()
    )
    assert list(read_rows(path)) == ROWS


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    assert list(read_rows(path)) == ROWS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n[1, 2]\n', "line 2: not a JSON object"),
        (b'{"a": 1}\n\n{', "line 3: not a JSON object"),
        (b'{"a": ', "line 1: not a JSON object"),
        (b"\xff\xfe", "line 1: not a JSON object"),
    ],
)
def test_bad_lines(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        list(read_rows(path))


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    path.write_bytes(b'{"question": "q"}')
    with pytest.raises(UserError, match="not a parquet file") as raised:
        list(read_rows(path))
    assert "\n" not in str(raised.value)


def test_parquet_without_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r'pip install "claw-envs\[datasets\]"'):
        list(read_rows(tmp_path / "rows.parquet"))


def test_the_hub_without_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UserError, match=r'pip install "claw-envs\[datasets\]", or name a local copy: SET:path'):
        list(hub_rows("owner/name", None, "test", instead="SET:path"))


def test_a_hub_that_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(dataset: str, config: str | None, *, split: str) -> list[dict[str, str]]:
        raise ConnectionError(f"Couldn't reach '{dataset}'\non the hub")

    monkeypatch.setitem(sys.modules, "datasets", hub(load_dataset))
    with pytest.raises(UserError, match=r"the hub does not give owner/name .Couldn't reach 'owner/name'.; .*SET:path"):
        list(hub_rows("owner/name", None, "test", instead="SET:path"))


def test_the_hub_is_asked_for_set_config_and_split(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load_dataset(dataset: str, config: str | None, *, split: str) -> list[dict[str, str]]:
        asked.append((dataset, config, split))
        return ROWS

    monkeypatch.setitem(sys.modules, "datasets", hub(load_dataset))
    assert list(hub_rows("owner/name", "main", "test", instead="")) == ROWS
    assert asked == [("owner/name", "main", "test")]


def hub(load_dataset: object) -> ModuleType:
    module = ModuleType("datasets")
    module.load_dataset = load_dataset  # type: ignore[attr-defined]
    return module
