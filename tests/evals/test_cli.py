"""What `claw eval` does, over a real endpoint."""

import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claw_envs.core.endpoints import split_endpoint
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.tasksets import load_tasks
from evals.cli import main_eval, read_options
from evals.results import ResultFile
from evals.summary import Summary

from .endpoint import serving

TASKS = load_tasks("chat", "heldout")


def answer(messages: list[dict[str, Any]]) -> str:
    """Right, and as the student likes it."""
    task = next(task for task in TASKS if task.metadata["question"] in messages[-1]["content"])
    number = f"{task.metadata['answer']:g}"
    return f"0 + {number} = {number}, so it is {number}."


def test_a_benchmark_prints_a_table_writes_json_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(answer) as url:
        model = f"{url}#code"
        first = main_eval("personal", model=model, out=tmp_path, parallel=4, settings={"limit": "4", "samples": "2"})
        again = main_eval("personal", model=model, out=tmp_path, parallel=4, settings={"limit": 4, "samples": 2})
    shown = capsys.readouterr()
    assert (first.n, first.resumed, again.n, again.resumed) == (8, 0, 8, 8)
    assert first.metrics["correctness"] == 1.0
    assert first.metrics["empty"] == first.metrics["cutoff"] == 0.0
    assert "perplexity" not in first.metrics  # an endpoint gives no ids
    assert f"personal · {model}" in shown.out
    assert "episodes     8 (8 COMPLETED)" in shown.out
    assert shown.err.startswith(f"8 episodes of 4 tasks with {model}\n")
    assert shown.err.count("COMPLETED score") == 8
    assert len(ResultFile(tmp_path / "episodes.jsonl").results) == 8
    assert msgspec.json.decode((tmp_path / "summary.json").read_bytes(), type=Summary).resumed == 8


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("sglang+http://127.0.0.1:1#smollm2", "no engine is up there: start it"),
        ("vllm+http://127.0.0.1:1", "name the model's directory for its tokenizer"),
        ("vllm+127.0.0.1:1#smollm2", r"engines are written KIND\+http://"),
        ("vlm+http://127.0.0.1:1#smollm2", r"engines are written KIND\+http://"),
    ],
)
def test_an_engine_that_is_not_there_ends_the_command_at_once(model: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        main_eval("personal", model=model, out=tmp_path)


@pytest.mark.parametrize(
    ("benchmark", "settings", "message"),
    [
        ("swe", {}, "no benchmark 'swe'; there are: terminal, personal, aime"),
        (
            "terminal",
            {"smaples": "2"},
            "terminal has no setting smaples; there are: max_steps, backend, network, outcome, samples, limit, seed",
        ),
        ("terminal", {"limit": "many"}, "terminal: Expected `int | null`, got `str`"),
        ("personal", {"samples": "0"}, "samples and limit must be at least 1"),
    ],
)
def test_mistakes_are_one_clear_line(benchmark: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as raised:
        read_options(benchmark, settings)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_persona_or_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no persona 'pupil'; there are: student, teacher"):
        main_eval("personal", model="http://localhost/v1#m", out=tmp_path, settings={"persona": "pupil"})
    with pytest.raises(UserError, match="written URL#MODEL"):
        main_eval("personal", model="http://localhost/v1", out=tmp_path)
    with pytest.raises(UserError, match="written URL#MODEL"):
        split_endpoint("smollm2")


def test_options_are_read_as_what_they_are() -> None:
    options = read_options("personal", {"hinted": "true", "temperature": "0.7", "persona": "teacher", "limit": None})
    assert (options.hinted, options.temperature, options.persona, options.limit) == (True, 0.7, "teacher", None)  # type: ignore[attr-defined]


def test_an_endpoint_that_does_not_answer_is_given_up(tmp_path: Path) -> None:
    over = threading.Event()

    def wait(messages: list[dict[str, Any]]) -> str:
        over.wait()
        return ""

    with serving(wait) as url:
        with pytest.raises(InfrastructureError, match=r"no episode could be scored: .*no answer within 0\.1 s"):
            main_eval("personal", model=f"{url}#m", out=tmp_path, settings={"limit": 1, "timeout": "0.1"})
        over.set()
    assert msgspec.json.decode((tmp_path / "summary.json").read_bytes())["statuses"] == {"ABORTED": 1}
    (lost,) = ResultFile(tmp_path / "episodes.jsonl").results.values()
    assert "no answer within 0.1 s" in str(lost.error)
