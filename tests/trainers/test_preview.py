"""`claw train --dry-run` with the bundled trainer: mistakes come out, nothing is run, nothing is written."""

from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from trainers.async_trainer import train
from trainers.config import load_config
from trainers.store import Store

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.mark.parametrize("name", ["terminal", "toolcall", "student", "swe"])
def test_the_examples_settings_pass(tiny_model: Path, tmp_path: Path, name: str) -> None:
    config = load_config(None, EXAMPLES / f"{name}.toml", {"model": str(tiny_model)})
    train(config, tmp_path / "run", dry_run=True)
    assert not list(tmp_path.iterdir())


def test_it_says_what_would_run(tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"model": str(tiny_model), "signal": "step_index", "env.max_steps": "4", "lora.rank": "8"}
    train(load_config("terminal", None, settings), tmp_path / "run", dry_run=True)
    said = capsys.readouterr().out
    for part in (str(tiny_model), "terminal, ", "max_steps=4", "LoRA of rank 8", "4 tasks, 4 attempts", "by rules"):
        assert part in said
    assert said.endswith("Nothing was run. Without --dry-run this trains.\n")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"env.tasks": "/no/such/set"}, "/no/such/set"),
        ({"env.colour": "red"}, r"\[env\].*colour"),
        ({"model": "/no/such/model"}, "not a model"),
        ({"eval.function": "evals.no:score"}, "no module evals.no"),
    ],
)
def test_a_mistake_is_found(tiny_model: Path, tmp_path: Path, settings: dict[str, str], message: str) -> None:
    config = load_config("chat", None, {"model": str(tiny_model)} | settings)
    with pytest.raises(UserError, match=message):
        train(config, tmp_path / "run", dry_run=True)


def test_a_directory_that_holds_a_run_is_a_mistake_unless_it_is_resumed(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load_config("chat", None, {"model": str(tiny_model)})
    with pytest.raises(UserError, match="no run to resume"):
        train(config, tmp_path, resume=True, dry_run=True)
    Store(tmp_path / "store.sqlite").close()
    (tmp_path / "checkpoints" / "v0004").mkdir(parents=True)
    with pytest.raises(UserError, match="--resume"):
        train(config, tmp_path, dry_run=True)
    train(config, tmp_path, resume=True, dry_run=True)
    assert "going on from v0004" in capsys.readouterr().out


def test_flags_for_an_engine_are_a_mistake_where_there_is_none(tmp_path: Path) -> None:
    config = load_config("chat", None, {})
    config.arguments = ["--vllm.num_engines", "2"]
    with pytest.raises(UserError, match=r"--vllm.num_engines 2.*--trainer openrlhf"):
        train(config, tmp_path / "run")
