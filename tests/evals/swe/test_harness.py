"""The official harness beside our verdicts: with a stand-in for the program, and once with the real one."""

import asyncio
import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from claw_envs.core.episode import Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec, Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.sandbox.docker.engine import Engine
from claw_envs.swe.instance import Instance, instance_of, task_of
from evals.results import EpisodeResult
from evals.summary import Difference, Official
from evals.swe import harness
from evals.swe.predictions import write_predictions

NAMES = ("a", "b", "c", "d")
STAND_IN = """
import json, pathlib, sys

options = dict(zip((name[2:] for name in sys.argv[1::2]), sys.argv[2::2]))
rows = [json.loads(line) for line in open(options["predictions_path"])]
dataset = [json.loads(line)["instance_id"] for line in open(options["dataset_name"])]
assert dataset == [row["instance_id"] for row in rows], (dataset, rows)
report = {name + "_ids": [] for name in ("resolved", "unresolved", "empty_patch", "error")}
for row in rows:
    model = row["model_name_or_path"].replace("/", "__")
    kept = pathlib.Path("logs/run_evaluation", options["run_id"], model, row["instance_id"])
    if not kept.exists() and row["model_patch"]:
        print("judging", row["instance_id"])
        kept.mkdir(parents=True)
        (kept / "patch.diff").write_text(row["model_patch"])
    if row["model_patch"] != "hide":
        report[(row["model_patch"] or "empty_patch") + "_ids"].append(row["instance_id"])
pathlib.Path(options["report_dir"], f"{model}.{options['run_id']}.json").write_text(json.dumps(report))
"""
"""Reads a verdict off each patch, and keeps logs where the real one does."""


def task(name: str) -> Task:
    instance = Instance(
        instance_id=name,
        repo="r/r",
        base_commit="0" * 40,
        problem_statement="Fix it",
        patch="",
        test_patch="",
        eval_script="",
        log_parser="parse_log_pytest",
        fail_to_pass=("t",),
        pass_to_pass=(),
        image="" if name == "bare" else f"claw-no-such-image/{name}:latest",
    )
    return task_of(instance, SandboxSpec(image=instance.image))


def result(name: str, patch: str, status: str, *, sample: int = 0) -> EpisodeResult:
    report = {"resolved": status == "resolved", "status": status, "patch": patch}
    return EpisodeResult(task_id=name, sample_index=sample, seed=0, status=Status.COMPLETED, report=report)


def judged(folder: Path, results: list[EpisodeResult]) -> Official:
    write_predictions(folder, "http://localhost/v1#org/model", results)
    return asyncio.run(harness.judge(folder, results, [task(name) for name in NAMES], workers=2))


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose module the harness's place takes; its results belong into another."""
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(harness, "PROGRAM", "stand_in")
    monkeypatch.setattr(harness, "connect", lambda: SimpleNamespace(url="unix:///nowhere"))
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_verdicts_are_compared_and_differences_named(stand_in: Path) -> None:
    results = [
        result("a", "resolved", "resolved"),
        result("b", "", "empty_patch"),
        result("c", "error", "patch_failed"),
        EpisodeResult(task_id="d", sample_index=0, seed=0, status=Status.ABORTED),
        result("a", "unresolved", "resolved", sample=1),
        result("b", "hide", "unresolved", sample=1),
    ]
    official = judged(stand_in, results)
    assert official == Official(
        program="stand_in",
        n=5,
        resolved=1,
        agree=3,
        differences=[
            Difference(task_id="a", sample_index=1, ours="resolved", official="unresolved"),
            Difference(task_id="b", sample_index=1, ours="unresolved", official="no verdict"),
        ],
    )


def test_what_was_judged_is_kept_unless_the_patch_is_another(stand_in: Path) -> None:
    log = stand_in / "harness" / "predictions.log"
    judged(stand_in, [result("a", "resolved", "resolved"), result("b", "unresolved", "unresolved")])
    assert log.read_text().split("\n") == ["judging a", "judging b", ""]
    judged(stand_in, [result("a", "resolved", "resolved"), result("b", "error", "patch_failed")])
    assert log.read_text() == "judging b\n"


def test_nothing_to_judge_is_no_call(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "PROGRAM", "no_such_module")
    lost = [EpisodeResult(task_id="a", sample_index=0, seed=0, status=Status.ABORTED)]
    assert judged(stand_in, lost) == Official(program="no_such_module", n=0, resolved=0, agree=0)


def test_a_harness_that_fails_is_told_with_its_last_words(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "PROGRAM", "no_such_module")
    with pytest.raises(
        InfrastructureError, match=r"exit code 1 \(.*No module named no_such_module\); see .*predictions\.log"
    ):
        judged(stand_in, [result("a", "resolved", "resolved")])


def test_a_harness_that_leaves_no_report(stand_in: Path) -> None:
    (stand_in.parent / "stand_in.py").write_text("")
    with pytest.raises(InfrastructureError, match="left no report"):
        judged(stand_in, [result("a", "resolved", "resolved")])


def test_without_the_harness_or_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "swebench" else found(name))
    with pytest.raises(UserError, match=r'pip install "claw-envs\[swe\]"'):
        asyncio.run(harness.prepare([task("a")]))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    with pytest.raises(UserError, match="no container engine answers there"):
        asyncio.run(harness.prepare([task("a")]))


def test_images_that_are_missing_are_named(engine: Engine) -> None:
    pytest.importorskip("swebench")
    with pytest.raises(
        UserError, match=r"has not claw-no-such-image/a:latest, .*/b:latest, .*/c:latest and 1 more: `docker"
    ):
        asyncio.run(harness.prepare([task(name) for name in NAMES]))
    with pytest.raises(UserError, match="bare names none"):
        asyncio.run(harness.prepare([task("bare")]))


def test_the_real_harness_on_a_built_in_task(engine: Engine, tmp_path: Path) -> None:
    pytest.importorskip("swebench")
    task = load_tasks("swe")[0]
    asyncio.run(harness.prepare([task]))
    results = [
        result(task.id, instance_of(task).patch, "resolved"),
        result(task.id, "no patch at all\n", "patch_failed", sample=1),
        result(task.id, "", "empty_patch", sample=2),
    ]
    write_predictions(tmp_path, "org/model", results)
    official = asyncio.run(harness.judge(tmp_path, results, [task], workers=1))
    assert official == Official(program=harness.PROGRAM, n=3, resolved=1, agree=3)
    (kept,) = tmp_path.glob(f"harness/logs/run_evaluation/*/org__model/{task.id}/report.json")
    assert json.loads(kept.read_text())[task.id]["resolved"] is True
