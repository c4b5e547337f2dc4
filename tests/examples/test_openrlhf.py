"""The examples for many machines: their settings, and the tables that document them."""

import re
import subprocess
import sys
from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claw_envs.families import FAMILIES
from tests.examples.files import FOLDER, JUDGED, NAMES, ROOT, settings
from trainers.openrlhf.flags import flags_of, gpus

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")


def table(after: str) -> list[dict[str, str]]:
    """The rows of the first table behind a text of docs/cluster.md; stars, for values of our own, are left out."""
    lines = [line for line in PAGE.partition(after)[2].partition("\n\n|")[2].partition("\n\n")[0].splitlines() if line]
    cells = [[cell.strip() for cell in line.strip("|").replace("\\*", "").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def test_there_is_one_for_each_family() -> None:
    assert {settings(name).family for name in NAMES} == {family.name for family in FAMILIES}


@pytest.mark.parametrize("name", NAMES)
def test_openrlhf_is_given_flags_that_fit_together(name: str, tmp_path: Path) -> None:
    config = settings(name)
    flags = flags_of(config, tmp_path, model=config.model, resume=False)
    assert flags["data.max_len"] > flags["rollout.max_new_tokens"]
    assert flags["train.async_enable"]


@pytest.mark.skipif(find_spec("openrlhf") is None, reason="openrlhf is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_says_what_would_run_and_writes_nothing(name: str, tmp_path: Path) -> None:
    command = f"train {settings(name).family} --trainer openrlhf --config {FOLDER / name}.toml --dry-run --run"
    call = [sys.executable, "-c", "from claw_envs.cli import main; main()", *command.split(), str(tmp_path / "run")]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (row,) = [row for row in table("## The examples") if row[""] == f"`{name}`"]
    assert f"{int(row['in all']) - int(row['judge'])}: actor {row['GPUs: actor and reference']}" in done.stdout
    assert settings(name).model.rpartition("/")[2] in done.stdout
    assert not list(tmp_path.iterdir())


def test_the_documented_values_are_those_of_the_files() -> None:
    rows = table("Their values, and where each is from")
    assert len(rows) > 15
    for row in rows:
        path = row["setting"].strip("`").split(".")
        for name in NAMES:
            there: Any = reduce(lambda part, key: part.get(key, ""), path, msgspec.to_builtins(settings(name)))
            said: Any = row[name]
            if not said:  # says nothing about this one
                continue
            if isinstance(there, int | float):
                said = float(said)
            elif path == ["model"]:
                there = there.rpartition("/")[2]
            assert there == said, f"{row['setting']} of {name}"


def test_the_documented_gpus_are_those_that_the_files_ask_for(tmp_path: Path) -> None:
    rows = {row[""].strip("`"): row for row in table("## The examples")}
    assert sorted(rows) == NAMES
    for name, row in rows.items():
        config = settings(name)
        roles = gpus(flags_of(config, tmp_path, model=config.model, resume=False))
        assert roles["actor"] + roles.get("reference", 0) == int(row["GPUs: actor and reference"])
        assert roles["engines"] == int(row["engines"])
        assert int(row["judge"]) == (name in JUDGED)
        assert sum(roles.values()) + int(row["judge"]) == int(row["in all"])


def test_the_images_versions_are_the_supported_ones() -> None:
    pytest.importorskip("wrapt")
    from trainers.openrlhf.hooks import SUPPORTED

    image = (ROOT / "dockerfiles" / "trainer" / "Dockerfile").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "openrlhf").read_text(encoding="utf-8")
    for pin in re.findall(r'"[^" ]+==[^" ]+"', PAGE.partition("Without a GPU")[2].split("```")[1]):
        assert pin in script
    for text in (image, PAGE):
        assert re.findall(r'"openrlhf==([\d.]+)"', text) == [SUPPORTED[0]]
