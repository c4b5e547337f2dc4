"""Where SWE tasks come from: the hub's sets, local copies of them, files whose rows tell their format, and parts."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import builtin, load_tasks
from claw_envs.swe.formats.sets import SETS
from claw_envs.swe.instance import instance_of
from claw_envs.swe.loader import load, survey
from tests.claw_envs.swe.formats import test_r2e_gym, test_swe_gym, test_swe_smith
from tests.claw_envs.swe.formats.samples import swe_bench4, swe_bench5

ROWS = {
    "swe-bench": swe_bench5(),
    "swe-gym": test_swe_gym.row("getmoto/moto"),
    "swe-smith": test_swe_smith.row(),
    "r2e-gym": test_r2e_gym.row(),
}
"""A row by the format that tasks are marked with."""


def file_of(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_the_built_in_set_is_the_default() -> None:
    ids = [task.id for task in load_tasks("swe")]
    assert ids == sorted(path.name for path in (builtin("swe") / "tasks").iterdir())
    assert load_tasks("swe", str(builtin("swe"))) == load(None)


def test_each_set_is_read_from_the_hub_in_its_own_format(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    formats = {name: name for name in ("swe-gym", "swe-smith", "r2e-gym")} | {"swe-gym-lite": "swe-gym"}

    def load_dataset(dataset: str, config: str | None, *, split: str) -> list[dict[str, Any]]:
        asked.append((dataset, split))
        return [ROWS[formats.get(name, "swe-bench")]]

    module = ModuleType("datasets")
    module.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", module)
    for name in SETS:
        (task,) = load(name)
        assert task.metadata["format"] == formats.get(name, "swe-bench")
    assert asked[:4] == [
        ("SWE-bench/SWE-bench_Verified", "test"),
        ("SWE-bench/SWE-bench_Lite", "test"),
        ("SWE-bench/SWE-bench", "test"),
        ("SWE-bench/SWE-bench_Multilingual", "test"),
    ]
    assert asked[4:] == [
        ("SWE-Gym/SWE-Gym", "train"),
        ("SWE-Gym/SWE-Gym-Lite", "train"),
        ("SWE-bench/SWE-smith", "train"),
        ("R2E-Gym/R2E-Gym-Subset", "train"),
    ]


def test_without_the_hub_a_local_copy_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UserError, match=r"or name a local copy: verified:path/to/file\.parquet"):
        load("verified")


def test_a_file_of_mixed_rows_tells_their_formats(tmp_path: Path) -> None:
    tasks = load(file_of(tmp_path, *ROWS.values()))
    assert [task.metadata["format"] for task in tasks] == list(ROWS)


def test_a_local_copy_is_read_as_its_set(tmp_path: Path) -> None:
    path = file_of(tmp_path, test_swe_gym.row("getmoto/moto"))
    assert load(f"swe-gym-lite:{path}")[0].metadata["format"] == "swe-gym"
    with pytest.raises(UserError, match="not an R2E-Gym row"):
        load(f"r2e-gym:{path}")


def test_a_part_of_the_rows(tmp_path: Path) -> None:
    path = file_of(tmp_path, *(swe_bench5(instance_id=f"tiny__calc-{number}") for number in range(5)))
    for part, numbers in {"[:2]": "01", "[3:]": "34", "[1:3]": "12", "[:]": "01234"}.items():
        for source in (path, f"full:{path}"):
            assert [task.id for task in load(source + part)] == [f"tiny__calc-{number}" for number in numbers]
    with pytest.raises(UserError, match="no task there"):
        load(f"{path}[7:]")


def test_one_bad_row_hides_no_other(tmp_path: Path) -> None:
    bad, again = swe_bench5(instance_id="tiny__calc-2", base_commit="x"), swe_bench5()
    path = file_of(tmp_path, bad, swe_bench5(), again, {"a": 1})
    with pytest.warns(UserWarning, match=r"(?s)3 of 4 tasks were left out:\n  tiny__calc-2: .*\n  row 4: ") as caught:
        assert [task.id for task in load(path)] == ["tiny__calc-1"]
    assert caught[0].filename == __file__
    assert "is taken by a task before it" in survey(path).faults[1].reason
    with pytest.raises(UserError, match=r"none of its 2 tasks can be loaded; the first: .*40 hex digits"):
        load(file_of(tmp_path, bad, bad))


def test_a_row_of_odd_types_is_a_fault_like_any_other(tmp_path: Path) -> None:
    tasks, faults = survey(file_of(tmp_path, swe_bench5(repo=[]), swe_bench5()))
    assert (len(tasks), [fault.name for fault in faults]) == (1, ["tiny__calc-1"])
    assert "Expected `str`, got `array` - at `$.repo`" in faults[0].reason


def test_a_recipe_that_is_given_serves_rows_without_script(tmp_path: Path) -> None:
    recipe = tmp_path / "calc.toml"
    recipe.write_text('[tests]\ncommand = "python -m pytest -rA"\n')
    path = file_of(tmp_path, swe_bench4())
    (task,) = survey(path, recipe=recipe).tasks
    assert "python -m pytest -rA check.py" in instance_of(task).eval_script
    with pytest.raises(UserError, match="claw swe convert"):
        load(path)


def test_what_is_no_source_is_said(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("")
    for source, said in {
        "verifed": "no SWE task set or path 'verifed': name verified, lite, ",
        "verified:": "name a file after the colon",
        f"verified:{tmp_path}/none.jsonl": "no SWE task set or path",
        f"{tmp_path}/rows.csv": r"rows, and parts of them, lie in a \.jsonl, \.json, \.parquet file",
        str(tmp_path): "no task there; a task's folder has a task.yaml",
        "x" * 5000: "cannot be read: .*File name too long",
        f"{builtin('swe')}[:1]": "rows, and parts of them, lie in",
        file_of(tmp_path): "no task there",
    }.items():
        with pytest.raises(UserError, match=said):
            load(source)
