"""`claw eval webapps|miniwob|osworld` over a real endpoint, on real screens."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claw_envs.core.episode import content_of
from claw_envs.core.errors import ContextFull, UserError
from claw_envs.core.tasksets import load_tasks
from claw_envs.gui.desktop.machine import check_host
from evals.cli import main_eval
from evals.gui.benchmark import benchmark
from evals.gui.evaluate import evaluate
from evals.gui.options import OsworldOptions, WebappsOptions
from evals.results import ResultFile
from evals.runner import run_benchmark
from evals.summary import Summary
from evals.view import write_page
from trainers.policies.base import Completion

from ..endpoint import serving
from .pilot import Pilot

TASKS = load_tasks("gui", "webapps")


@pytest.mark.usefixtures("chromium")
def test_episodes_figures_recordings_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solved, lost = TASKS[:2]
    pilot = Pilot(solved)
    settings = {"limit": 2, "samples": 2, "max_steps": 15}
    with serving(pilot) as url:
        summary = main_eval("webapps", model=f"{url}#code", out=tmp_path, parallel=2, settings=settings)
        asked = pilot.asked
        again = main_eval("webapps", model=f"{url}#code", out=tmp_path, parallel=2, settings=settings)
    assert (again.resumed, pilot.asked) == (4, asked)
    assert (summary.n, summary.score, summary.interval) == (4, 0.5, "wilson")
    assert summary.endings == {"solved": 2, "malformed only": 2}
    results = ResultFile(tmp_path / "episodes.jsonl").results
    assert (results[solved.id, 0].score, results[lost.id, 1].score) == (1.0, 0.0)
    assert results[lost.id, 0].metrics["malformed"] == results[lost.id, 0].metrics["steps"] == 15
    assert results[solved.id, 1].metrics["errors"] == 0
    assert summary.groups["domain"][solved.metadata["domain"]].n == 4
    assert "domain" in capsys.readouterr().out
    first = {task.id: Path(results[task.id, 0].report["recording"]) for task in (solved, lost)}
    assert all(path.parent == tmp_path / "recordings" and path.read_bytes()[:4] == b"GIF8" for path in first.values())
    assert len(list((tmp_path / "recordings").iterdir())) == 2  # of the first sample of each task
    assert solved.id in write_page(tmp_path).read_text()


@pytest.mark.usefixtures("chromium")
def test_all_samples_or_none_are_recorded(tmp_path: Path) -> None:
    for record, count in (("all", 2), ("none", 0)):
        out = tmp_path / record
        with serving(Pilot()) as url:
            settings: dict[str, Any] = {"limit": 1, "samples": 2, "max_steps": 1, "record": record}
            main_eval("webapps", model=f"{url}#code", out=out, settings=settings)
        assert len(list((out / "recordings").glob("*.gif"))) == count


@pytest.mark.usefixtures("chromium")
def test_pages_of_miniwob_are_run_with_other_seeds(tmp_path: Path) -> None:
    with serving(Pilot()) as url:
        settings: dict[str, Any] = {"samples": 3, "max_steps": 1, "record": "none"}
        summary = main_eval("miniwob", model=f"{url}#m", out=tmp_path, tasks="miniwob/click-button", settings=settings)
    results = [*ResultFile(tmp_path / "episodes.jsonl").results.values()]
    assert len({content_of(result.transcript[1]) for result in results}) == 3
    assert {result.metrics["reward"] for result in results} == {-1.0}
    assert (summary.score, summary.endings) == (0.0, {"malformed only": 3})
    assert summary.groups["domain"]["click"].n == 3


def test_desktop_tasks_leave_osworld_s_files(tmp_path: Path) -> None:
    try:
        check_host()
    except UserError as error:
        pytest.skip(str(error))
    task = next(task for task in load_tasks("gui", "desktop") if task.id == "desktop-files-send-by-bluetooth")
    path = str(next(Path(task.folder()).glob(f"{task.id}.json")))
    with serving(Pilot(task)) as url:
        summary = main_eval("osworld", model=f"{url}#m", out=tmp_path, tasks=path, settings={"record": "none"})
    assert (summary.score, summary.endings) == (1.0, {"solved": 1})
    assert summary.groups["kind"]["infeasible"].score == 1.0
    (file,) = (tmp_path / "osworld").rglob("result.txt")
    assert file.read_text() == "1.0\n"
    assert msgspec.json.decode((tmp_path / "summary.json").read_bytes(), type=Summary).score == 1.0


def test_a_task_that_cannot_run_is_left_out_of_the_benchmark(tmp_path: Path) -> None:
    base: dict[str, Any] = {"instruction": "Do it.", "evaluator": {"func": "infeasible"}}
    lacking = base | {"id": "b", "config": [{"type": "login", "parameters": {}}]}
    for task in (base | {"id": "a", "config": []}, lacking):
        (tmp_path / f"{task['id']}.json").write_text(json.dumps(task))
    with pytest.warns(UserWarning, match="1 of 2 tasks were left out:\n  b: `login` needs an account"):
        ours = benchmark(str(tmp_path), OsworldOptions())
    for made in (ours, ours.placed(tmp_path / "out")):
        assert [task.id for task in made.make_env().tasks] == [task.id for task in ours.tasks] == ["a"]


def test_an_agent_that_sees_nothing_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="the agent is shown nothing of the screen"):
        benchmark(None, WebappsOptions(observe="screenshot"))


@pytest.mark.usefixtures("chromium")
def test_a_full_context_is_an_ending_that_says_what_helps(tmp_path: Path) -> None:
    class Policy:
        version = 0

        async def generate(self, *_: object, **__: object) -> Completion:
            raise ContextFull("9000 tokens leave no room for an answer")

    ours = benchmark(None, WebappsOptions(limit=1, record="none"))
    run = run_benchmark(ours, Policy(), out=tmp_path, parallel=1, samples=1, seed=0)  # type: ignore[arg-type]  # only asked
    summary = asyncio.run(run)
    assert summary.endings == {"context full": 1}
    (result,) = ResultFile(tmp_path / "episodes.jsonl").results.values()
    assert "the model's context was full: a smaller max_characters (here 16000)" in str(result.error)


@pytest.mark.usefixtures("chromium")
def test_in_memory_for_a_trainer() -> None:
    pilot = Pilot(TASKS[0])

    class Policy:
        version = 0

        async def generate(self, prompt: list[dict[str, str]], *_: object, **__: object) -> Completion:
            return Completion([], [], [], [], "stop", pilot(prompt))

    figures = asyncio.run(evaluate(Policy(), limit=1, samples=2, parallel=2))  # type: ignore[arg-type]  # only asked
    assert (figures["score"], figures["success"], figures["malformed"]) == (1.0, 1.0, 0.0)
    assert figures["score_low"] < 1.0 == figures["score_high"]
    with pytest.raises(UserError, match=r"\[eval.options\]: Object contains unknown field `smaples`"):
        asyncio.run(evaluate(Policy(), smaples=2))  # type: ignore[arg-type]  # only asked
