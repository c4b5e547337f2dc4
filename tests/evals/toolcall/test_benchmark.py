"""`claw eval toolcall|aime|…` over a real endpoint, the real environment and the real checker."""

import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import load_tasks
from claw_envs.wire import Form
from evals.cli import main_eval, read_options
from evals.results import ResultFile
from evals.summary import Summary

from ..endpoint import serving
from .solver import Solver

SET = "procedural:heldout,families=product+gcd+rewrite,levels=1-2,count=6"


def test_problems_are_solved_with_the_interpreter_and_grouped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = load_tasks("toolcall", SET)
    ids = [task.id for task in tasks]
    solver = Solver(tasks, wrong=ids[:1], silent=ids[3:4])
    with serving(solver) as url:
        summary = main_eval("toolcall", model=f"{url}#code", out=tmp_path, tasks=SET, settings={"max_steps": "3"})
    assert (summary.score, summary.n, summary.interval) == (4 / 6, 6, "wilson")
    assert summary.statuses == {"COMPLETED": 5, "TRUNCATED": 1}
    assert summary.metrics == {
        "steps": (1 + 4 * 2 + 3) / 6,
        "calls": 4 / 6,
        "called": 4 / 6,
        "valid_calls": 4 / 5,
        "truncated": 1 / 6,
    }
    assert {name: group.score for name, group in summary.groups["generator"].items()} == {
        "product": 0.0,
        "gcd": 1.0,
        "rewrite": 1.0,
    }
    assert {name: group.tasks for name, group in summary.groups["level"].items()} == {"1": 3, "2": 3}
    shown = capsys.readouterr().out
    assert "generator  tasks" in shown
    assert "level  tasks" in shown
    results = ResultFile(tmp_path / "episodes.jsonl").results
    assert results[ids[1], 0].transcript[-1]["content"] == "The answer is being checked."


@pytest.mark.parametrize("form", get_args(Form))
def test_calls_in_every_form_reach_the_interpreter(form: Form, tmp_path: Path) -> None:
    solver = Solver(load_tasks("toolcall", SET), form=form)
    with serving(solver) as url:
        settings = {"form": form, "limit": 1}
        summary = main_eval("toolcall", model=f"{url}#code", out=tmp_path, tasks=SET, settings=settings)
    assert (summary.score, summary.metrics["calls"], summary.metrics["steps"]) == (1.0, 1.0, 2.0)
    last = solver.asked[-1]
    assert [message["role"] for message in last][-2:] == ["assistant", "tool" if form == "openai" else "user"]
    assert bool(last[-2].get("tool_calls")) == (form == "openai")


def test_a_local_file_of_aime_with_many_samples_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": f"I-{i}", "problem": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(1, 4)]
    file = tmp_path / "aime24.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = 0

    def answer(messages: list[dict[str, Any]]) -> str:
        nonlocal asked
        asked += 1
        number = int(messages[-1]["content"].split()[2])
        return f"\\boxed{{{2 * number + (number == 3)}}}"  # the third is always wrong

    settings = {"samples": 4, "tools": "none"}
    with serving(answer) as url:
        arguments: dict[str, Any] = {"model": f"{url}#code", "tasks": str(file), "out": tmp_path / "out"}
        main_eval("aime", **arguments, settings=settings | {"samples": 2})
        summary = main_eval("aime", **arguments, settings=settings)
    assert asked == 12
    assert (summary.n, summary.resumed, summary.groups["year"]["2024"].tasks) == (12, 6, 3)
    assert summary.settings["sampling"]["temperature"] == 1.0
    assert list(summary.at_k) == ["avg@4", "pass@1", "pass@2", "pass@4"]
    for estimate in summary.at_k.values():
        assert (estimate.value, estimate.tasks, estimate.interval) == (2 / 3, 3, "wilson")  # all right or all wrong
        assert 0 <= estimate.low < 2 / 3 < estimate.high <= 1
    assert msgspec.json.decode((tmp_path / "out" / "summary.json").read_bytes(), type=Summary) == summary
    shown = capsys.readouterr().out
    assert "avg@4" in shown
    assert "pass@4" in shown


@pytest.mark.parametrize(
    ("benchmark", "settings", "message"),
    [
        ("aime", {"year": "2023"}, "aime: Invalid enum value '2023' - at `$.year`; there are: 2024, 2025"),
        ("toolcall", {"form": "xml"}, "toolcall: Invalid enum value 'xml' - at `$.form`; there are: openai, hermes"),
        ("gsm8k", {"timeout": "0"}, "timeout must be above 0 seconds"),
    ],
)
def test_mistakes_are_one_clear_line(benchmark: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as raised:
        read_options(benchmark, settings)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("benchmark", "settings", "sources"),
    [
        ("aime", {}, ["aime24", "aime25"]),
        ("aime", {"year": "2025"}, ["aime25"]),
        ("math500", {}, ["math500"]),
        ("gsm8k", {}, ["gsm8k"]),
        ("toolcall", {}, ["procedural:heldout"]),
    ],
)
def test_every_benchmark_has_its_task_sets(benchmark: str, settings: dict[str, str], sources: list[str]) -> None:
    assert read_options(benchmark, settings).sources() == sources  # type: ignore[attr-defined]


def test_tools_are_named_with_commas_and_none_is_no_tool() -> None:
    def arguments(**settings: str) -> dict[str, Any]:
        found: dict[str, Any] = read_options("toolcall", settings).env_kwargs()  # type: ignore[attr-defined]
        return found

    assert arguments() == {}
    assert arguments(tools="none", form="openai") == {"tools": [], "form": "openai"}
    assert arguments(tools="python, json:loads", max_steps="4") == {"tools": ["python", "json:loads"], "max_steps": 4}
