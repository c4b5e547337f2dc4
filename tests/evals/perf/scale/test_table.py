"""Tables: what is read, what is refused, and what a measurement writes."""

from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from evals.perf.scale.calibrate import to_toml
from evals.perf.scale.table import H100, read_table
from tests.evals.perf.scale.tables import TABLE, spread_out


def test_the_example_names_a_source_for_every_section() -> None:
    table = read_table(H100)
    assert table.origin == "published"
    said = [line.split(":")[0] for line in table.sources]
    assert said == ["serving", "learning", "sync", "judging", "hosts", "workload"]


def test_what_a_measurement_writes_is_read_back(tmp_path: Path) -> None:
    for table in (TABLE, spread_out()):
        path = tmp_path / "table.toml"
        path.write_text(to_toml(table))
        assert to_toml(read_table(path)) == to_toml(table)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max_sequences = 512", "max_sequences = 0", "max_sequences"),
        ("hang = 0.002", "hang = 1.5", "hosts.hang"),
        ("fixed_s = 2.0", "fixed_seconds = 2.0", "fixed_seconds"),
        ('sample = "episode"', 'sample = "token"', "episode, turn"),
        ("[serving]", "[serving", "not valid TOML"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(H100.read_text().replace(old, new))
    with pytest.raises(UserError, match=message):
        read_table(path)


def test_a_table_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such table"):
        read_table(tmp_path / "none.toml")
