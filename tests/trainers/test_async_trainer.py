"""The four loops with real environments, a real (tiny) model, real processes and real kills."""

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from claw_envs.chat.env import ChatEnv
from claw_envs.core.errors import UserError
from trainers import checkpoints
from trainers.async_trainer import train
from trainers.config import Config, load_config


def config_of(model: Path, **overrides: str) -> Config:
    small = {
        "model": str(model),
        "threads": "1",
        "batch_size": "4",
        "updates": "3",
        "generation.max_new_tokens": "6",
        "rollout.parallel": "4",
        "checkpoint.keep": "100",
    }
    return load_config(None, None, small | overrides)


def rows(run: Path) -> list[dict[str, str]]:
    with (run / "metrics.csv").open() as file:
        return list(csv.DictReader(file))


def units(run: Path) -> list[tuple[str, int | None]]:
    with sqlite3.connect(run / "store.sqlite") as db:
        return db.execute("SELECT id, version FROM units ORDER BY seq").fetchall()


def ledger(run: Path) -> dict[str, int]:
    trained: dict[str, int] = json.loads((checkpoints.complete(run / "checkpoints")[-1] / "trainer.json").read_text())[
        "units"
    ]
    return trained


def test_a_run_leaves_everything_that_the_design_names(tiny_model: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(config_of(tiny_model), run)
    assert [row["version"] for row in rows(run)] == ["1", "2", "3"]
    assert all(row["samples"] == "4" for row in rows(run))
    assert checkpoints.complete(run / "checkpoints")[-1].name == "v0003"
    lines = [json.loads(line) for path in sorted((run / "records").iterdir()) for line in path.open()]
    assert len(lines) >= 12
    assert {"accepted", "turn"} == lines[0].keys()
    assert any((run / "tensorboard").iterdir())


@pytest.mark.parametrize("settings", [{"env.tasks": "/no/such/set"}, {"env.max_steps": "0"}])
def test_settings_that_cannot_work_leave_no_run(tmp_path: Path, settings: dict[str, str]) -> None:
    with pytest.raises(UserError):
        train(load_config(None, None, settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_mistake_that_the_first_reset_finds_leaves_no_run(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise UserError("no engine answers")

    run, kept = tmp_path / "run", tmp_path / "kept"
    kept.mkdir()
    (kept / "notes").touch()
    with monkeypatch.context() as patch:
        patch.setattr(ChatEnv, "_start", refuse)
        for directory in (run, kept):
            with pytest.raises(UserError, match="no engine answers"):
                train(config_of(tiny_model), directory)
    assert not run.exists()
    assert [path.name for path in kept.iterdir()] == ["notes"]
    train(config_of(tiny_model, updates="1"), kept)
    with monkeypatch.context() as patch:
        patch.setattr(ChatEnv, "_start", refuse)
        with pytest.raises(UserError, match="no engine answers"):
            train(config_of(tiny_model, updates="9"), kept, resume=True)
    assert units(kept)


def test_no_update_at_all_scores_the_initial_weights(tiny_model: Path, tmp_path: Path) -> None:
    overrides = {"updates": "0", "eval.function": "evals.personal.evaluate:evaluate", "eval.options.limit": "1"}
    train(config_of(tiny_model, **overrides, **{"eval.options.max_new_tokens": "4"}), tmp_path)
    assert [line.split(",")[0] for line in (tmp_path / "scores.csv").read_text().splitlines()] == ["version", "0"]
    assert not (tmp_path / "checkpoints").exists()


def test_staleness_never_exceeds_its_bound(tiny_model: Path, tmp_path: Path) -> None:
    for bound in (0, 2):
        run = tmp_path / str(bound)
        train(config_of(tiny_model, **{"rollout.max_staleness": str(bound), "updates": "6"}), run)
        assert max(int(row["staleness_max"]) for row in rows(run)) <= bound


def test_kill_9_then_resume_loses_no_turn_and_trains_none_twice(tiny_model: Path, tmp_path: Path) -> None:
    run, settings = tmp_path / "run", tmp_path / "settings.json"
    overrides = {"updates": "1000", "checkpoint.every": "3"}
    settings.write_text(json.dumps({"model": str(tiny_model), "run": str(run), "overrides": overrides}))
    process = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(settings)], stderr=subprocess.PIPE, text=True, env=os.environ | _PATH
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "update 5/" in line:
            process.send_signal(signal.SIGKILL)
            break
    process.stderr.close()
    assert process.wait() == -signal.SIGKILL
    before = units(run)
    claimed = {name: version for name, version in before if version is not None}
    resumed_from = checkpoints.complete(run / "checkpoints")[-1].name
    assert resumed_from == "v0003"
    assert max(claimed.values()) >= 5

    last = max(claimed.values()) + 3
    train(config_of(tiny_model, **(overrides | {"updates": str(last)})), run, resume=True)

    after = units(run)
    assert after[: len(before)] == [(name, version or after[i][1]) for i, (name, version) in enumerate(before)]
    trained = ledger(run)
    assert {name: trained[name] for name in claimed} == claimed
    assert trained == {name: version for name, version in after if version is not None}
    assert sorted(trained.values()) == [version for version in range(1, last + 1) for _ in range(4)]
    assert [int(row["version"]) for row in rows(run)] == list(range(1, last + 1))


_PATH = {"PYTHONPATH": str(Path(__file__).parents[2])}
_CHILD = """
import json, sys
from pathlib import Path
from tests.trainers.test_async_trainer import config_of, train
settings = json.load(open(sys.argv[1]))
train(config_of(Path(settings["model"]), **settings["overrides"]), Path(settings["run"]))
"""


@pytest.mark.parametrize("name", ["binary", "opd"])
def test_every_turn_level_signal_trains(tiny_model: Path, tmp_path: Path, name: str) -> None:
    train(config_of(tiny_model, signal=name, updates="1"), tmp_path)
    assert int(rows(tmp_path)[0]["tokens"]) > 0


@pytest.mark.parametrize("name", ["step_index", "rloo"])
def test_grouped_signals_train_on_whole_groups(tiny_model: Path, tmp_path: Path, name: str) -> None:
    train(config_of(tiny_model, signal=name, updates="2", **{"rollout.group_size": "2"}), tmp_path)
    assert [row["samples"] for row in rows(tmp_path)] == ["4", "4"]
    assert len(units(tmp_path)) >= 4


def test_step_index_trains_in_real_sandboxes(tiny_model: Path, tmp_path: Path) -> None:
    small = {"env.max_steps": "2", "rollout.group_size": "2", "updates": "2"}
    config = config_of(tiny_model, family="terminal", signal="step_index", **small)
    train(config, tmp_path)
    assert [row["samples"] for row in rows(tmp_path)] == ["4", "4"]
    assert [row["aborted"] for row in rows(tmp_path)] == ["0", "0"]
    lines = [json.loads(line) for path in sorted((tmp_path / "records").iterdir()) for line in path.open()]
    assert {line["turn"]["observation"]["role"] for line in lines} <= {"tool", "environment"}


def test_a_users_mistake_leaves_no_run_behind(tiny_model: Path, tmp_path: Path) -> None:
    for key, message in (("env.colour", "takes no colour"), ("eval.function", "evals.nothing")):
        with pytest.raises(UserError, match=message):
            train(config_of(tiny_model, **{key: "evals.nothing:here"}), tmp_path)
        assert list(tmp_path.iterdir()) == []


def test_a_score_that_a_kill_took_is_made_up_for_on_resume_and_none_is_made_twice(
    tiny_model: Path, tmp_path: Path
) -> None:
    overrides = {"eval.function": "evals.personal.evaluate:evaluate", "eval.every": "1", "updates": "1"}
    config = config_of(tiny_model, **overrides, **{"eval.options.limit": "2", "eval.options.max_new_tokens": "4"})
    train(config, tmp_path)
    scores = tmp_path / "scores.csv"
    whole = scores.read_text().splitlines()
    scores.write_text("\n".join(whole[:2]) + "\n")
    train(config, tmp_path, resume=True)
    assert [line.split(",")[0] for line in scores.read_text().splitlines()] == ["version", "0", "1"]
