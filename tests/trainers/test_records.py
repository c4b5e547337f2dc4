"""The audit log on a real disk."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from claw_envs.core.episode import Episode, Turn
from trainers.records import RecordWriter


def turn(step: int) -> Turn:
    return Turn(episode_id="e", step=step, messages=[{"role": "user", "content": "naïve 🙂"}], response="12")


def lines(path: Path) -> list[Any]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def test_each_version_has_a_file_and_each_line_says_whether_it_was_accepted(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path / "new" / "records")
    for step, (version, accepted) in enumerate([(0, True), (0, False), (1, True), (0, True)]):
        writer.add(turn(step), version=version, accepted=accepted)
    writer.close()
    files = sorted((tmp_path / "new" / "records").iterdir())
    assert [path.name for path in files] == ["turns-v0000.jsonl", "turns-v0001.jsonl"]
    first, second = (lines(path) for path in files)
    assert [(line["turn"]["step"], line["accepted"]) for line in first] == [(0, True), (1, False), (3, True)]
    assert [(line["turn"]["step"], line["accepted"]) for line in second] == [(2, True)]
    assert msgspec.convert(first[0]["turn"], Turn) == turn(0)


def test_reopening_appends(tmp_path: Path) -> None:
    for step in range(3):
        writer = RecordWriter(tmp_path)
        writer.add(turn(step), version=7, accepted=True)
        writer.close()
        writer.close()
    assert [line["turn"]["step"] for line in lines(tmp_path / "turns-v0007.jsonl")] == [0, 1, 2]


def test_aborted_episodes_are_on_record_with_the_reason(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path)
    writer.abort(Episode(id="e", task_id="t", family="chat", error="the sandbox is gone"))
    writer.close()
    assert lines(tmp_path / "aborted.jsonl") == [{"episode": "e", "task": "t", "error": "the sandbox is gone"}]


def test_a_disk_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "turns-v0000.jsonl").mkdir()
    writer = RecordWriter(tmp_path)
    writer.add(turn(0), version=0, accepted=True)
    writer.close()
    with pytest.raises(IsADirectoryError):
        writer.add(turn(1), version=0, accepted=True)
