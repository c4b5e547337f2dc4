"""Rows of SWE-bench 4 become rows of SWE-bench 5 by its own code, in an environment that has claw-envs[swe4]."""

import json
import os
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.swe.formats.specs4 import convert_file, image_of
from claw_envs.swe.instance import instance_of
from claw_envs.swe.loader import load
from tests.claw_envs.swe.formats.samples import BASE, swe_bench4, swe_bench5

PYTHON = os.environ.get("CLAW_SWE4_PYTHON", "")
"""An interpreter of another environment."""
OFFICIAL = """import json, sys
from swebench.harness.test_spec.test_spec import make_test_spec
specs = [make_test_spec(json.loads(line), namespace="swebench") for line in open(sys.argv[1])]
print(json.dumps([[spec.eval_script, spec.instance_image_key] for spec in specs]))
"""
needs_version_4 = pytest.mark.skipif(not PYTHON, reason="CLAW_SWE4_PYTHON names no interpreter with claw-envs[swe4]")


def rows() -> list[dict[str, Any]]:
    """Of repositories whose specs need no network: in Python, JavaScript and Go."""
    return [
        swe_bench4(repo="psf/requests", version="2.7", instance_id="psf__requests-2317"),
        swe_bench4(repo="pytest-dev/pytest", version="7.0", instance_id="pytest-dev__pytest-9133"),
        swe_bench4(repo="markedjs/marked", version="1.0", instance_id="markedjs__marked-1674"),
        swe_bench4(repo="gin-gonic/gin", version="4003", instance_id="gin-gonic__gin-4003"),
    ]


def convert(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """`claw swe convert`, as the user of that environment runs it."""
    claw = Path(PYTHON).with_name("claw")
    return subprocess.run([claw, "swe", "convert", source, out], capture_output=True, text=True)


def file_of(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@needs_version_4
def test_scripts_and_images_are_the_officials(tmp_path: Path) -> None:
    source, out = file_of(tmp_path, *rows()), tmp_path / "out.jsonl"
    run = convert(source, out)
    assert (run.returncode, run.stdout) == (0, f"4 of 4 rows in {out}\n"), run.stderr
    official = subprocess.run([PYTHON, "-c", OFFICIAL, str(source)], capture_output=True, text=True, check=True)
    made = [json.loads(line) for line in out.read_text().splitlines()]
    assert [[row["eval_script"], row["image"]] for row in made] == json.loads(official.stdout)
    assert [row["eval_type"] for row in made] == ["pass_and_fail", "pass_and_fail", "fail_only", "pass_and_fail"]
    registry = pytest.importorskip("swebench.harness.log_parsers").PARSER_REGISTRY
    assert {row["log_parser"] for row in made} <= set(registry)
    assert [instance_of(task).row()["eval_script"] for task in load(str(out))] == [row["eval_script"] for row in made]


@needs_version_4
def test_what_cannot_be_converted_is_named(tmp_path: Path) -> None:
    bad = [swe_bench4(), swe_bench4(repo="psf/requests", version="99"), {"a": 1}]
    source, out = file_of(tmp_path, swe_bench5(), *bad), tmp_path / "out.jsonl"
    run = convert(source, out)
    assert (run.returncode, run.stdout) == (1, f"1 of 4 rows in {out}\n")
    assert "left out tiny__calc-1: SWE-bench 4 does not know version '1.0' of tiny/calc\n" in run.stderr
    assert "left out row 4: not a SWE-bench row" in run.stderr
    assert json.loads(out.read_text()) == swe_bench5()


def test_another_swebench_is_refused_with_the_way_to_get_it(tmp_path: Path) -> None:
    if any(found.version.startswith("4.") for found in metadata.distributions(name="swebench")):
        pytest.skip("this environment has swebench 4")
    source, out = file_of(tmp_path, swe_bench4(base_commit=BASE)), tmp_path / "out.jsonl"
    with pytest.raises(UserError, match=r'needs swebench 4\.1\.0.*pip install "claw-envs\[swe4\]"'):
        convert_file(source, out)
    assert not out.exists()


def test_files_are_checked_first(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        convert_file(tmp_path / "none.jsonl", tmp_path / "out.jsonl")
    source = file_of(tmp_path, swe_bench4())
    with pytest.raises(UserError, match="exists: name a new file"):
        convert_file(source, source)
    with pytest.raises(UserError, match="there is no folder"):
        convert_file(source, tmp_path / "none" / "out.jsonl")


def test_the_published_image() -> None:
    assert image_of("Project__Repo-1") == "swebench/sweb.eval.x86_64.project_1776_repo-1:latest"
