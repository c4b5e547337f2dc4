"""The files in SWE-bench's formats, read back by SWE-bench's own readers where it is installed."""

import json
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.episode import Status
from claw_envs.core.task import SandboxSpec
from claw_envs.swe.instance import Instance, task_of
from evals.results import EpisodeResult
from evals.swe.harness import verdict_of
from evals.swe.predictions import predictions_file, read_predictions, write_instances, write_predictions

ODD = "+a\u2028b\x0c\x85é\n-\r\n"
"""Characters at which `str.splitlines` splits, and ends of lines that must stay."""


def result(task: str, patch: str, *, sample: int = 0, **report: Any) -> EpisodeResult:
    said = {"patch": patch} | report
    return EpisodeResult(task_id=task, sample_index=sample, seed=0, status=Status.COMPLETED, report=said)


def test_a_file_for_each_sample_without_the_aborted(tmp_path: Path) -> None:
    results = [
        result("a", ODD),
        result("b", ""),
        EpisodeResult(task_id="c", sample_index=0, seed=0, status=Status.ABORTED),
        result("a", "+2\n", sample=1),
    ]
    write_predictions(tmp_path, "http://localhost:8000/v1#org/qwen", results)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["predictions-2.jsonl", "predictions.jsonl"]
    assert read_predictions(predictions_file(tmp_path, 0)) == [
        {"instance_id": "a", "model_name_or_path": "org/qwen", "model_patch": ODD},
        {"instance_id": "b", "model_name_or_path": "org/qwen", "model_patch": ""},
    ]
    assert [row["model_patch"] for row in read_predictions(predictions_file(tmp_path, 1))] == ["+2\n"]


def test_writing_again_replaces_what_was_there(tmp_path: Path) -> None:
    for patch in ("+1\n", "+2\n"):
        write_predictions(tmp_path, "runs/x/checkpoints/v0016", [result("a", patch)])
    assert read_predictions(tmp_path / "predictions.jsonl") == [
        {"instance_id": "a", "model_name_or_path": "runs/x/checkpoints/v0016", "model_patch": "+2\n"}
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.jsonl"]


def test_the_official_reader_reads_both_files(tmp_path: Path) -> None:
    harness = pytest.importorskip("swebench.harness.utils")
    instance = Instance(
        instance_id="a",
        repo="r/a",
        base_commit="0" * 40,
        problem_statement=f"Fix it {ODD}",
        patch=ODD,
        test_patch=ODD,
        eval_script="pytest",
        log_parser="parse_log_pytest",
        fail_to_pass=("t",),
        pass_to_pass=("u", "v"),
        image="x/a:latest",
    )
    write_instances(tmp_path / "instances.jsonl", [task_of(instance, SandboxSpec())])
    (row,) = harness.load_swebench_dataset(str(tmp_path / "instances.jsonl"))
    assert row == instance.row()
    assert harness.make_test_spec(row).FAIL_TO_PASS == ["t"]
    write_predictions(tmp_path, "smollm2", [result("a", ODD)])
    (prediction,) = harness.get_predictions_from_file(str(tmp_path / "predictions.jsonl"), "unused", "test")
    assert prediction == {"instance_id": "a", "model_name_or_path": "smollm2", "model_patch": ODD}
    assert json.loads((tmp_path / "predictions.jsonl").read_text(encoding="ascii")) == prediction


@pytest.mark.parametrize(
    ("report", "verdict"),
    [
        ({"resolved": True, "patch": "+"}, "resolved"),
        ({"resolved": False, "patch": "+", "status": "unresolved"}, "unresolved"),
        ({"resolved": False, "patch": "", "status": "empty_patch"}, "empty_patch"),
        ({"resolved": False, "patch": "+", "status": "patch_failed"}, "error"),
        ({"resolved": False, "patch": "+", "status": "timed_out"}, "error"),
    ],
)
def test_our_verdicts_in_the_harness_s_words(report: dict[str, Any], verdict: str) -> None:
    assert verdict_of(result("a", **report)) == verdict
