"""What comes before Ray is started: OpenRLHF's own parser, the dry run, and the run's directory."""

import contextlib
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from trainers.config import Config, load_config
from trainers.openrlhf import hooks, launch
from trainers.openrlhf.entry import check
from trainers.openrlhf.launch import train

pytestmark = pytest.mark.skipif(find_spec("openrlhf") is None, reason="openrlhf is not installed")
ENOUGH = ["--vllm.num_engines", "1", "--actor.num_gpus_per_node", "1", "--algo.advantage.estimator", "reinforce"]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """A run that could start, but for a model that holds no weights."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "q.jsonl").write_text('{"question": "One and one?", "answer": "2"}\n')
    overrides = {
        "model": str(tmp_path / "model"),
        "env.tasks": str(tmp_path / "q.jsonl"),
        "signal": "step_index",
        "updates": "3",
        "cluster.env_actors": "2",
    }
    return load_config("toolcall", None, overrides)


def test_openrlhfs_parser_reads_the_flags() -> None:
    assert check(ENOUGH) == []


def test_its_warnings_are_handed_on() -> None:
    assert any(
        "packing_samples" in line
        for line in check([*ENOUGH, "--ds.packing_samples", "--ds.attn_implementation", "sdpa"])
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--vllm.engines", "2"], "unrecognized arguments: --vllm.engines 2"),
        (["--ds.zero_stag", "3"], "unrecognized arguments: --ds.zero_stag 3"),
        (["--actor.num_gpus_per_nod=3"], "unrecognized arguments: --actor.num_gpus_per_nod=3"),
        (["--vllm.num_engines", "two"], "argument --vllm.num_engines: invalid int value: 'two'"),
        (["--train.partial_rollout_enable"], "requires --train.async_enable"),
        (["--help"], "--help"),
    ],
)
def test_what_it_refuses_is_one_line(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        check([*ENOUGH, *words])
    assert "\n" not in str(error.value)


def test_reading_the_flags_leaves_no_module_and_no_argument_behind() -> None:
    before, arguments = dict(sys.modules), sys.argv
    check(ENOUGH)
    assert {name: module for name, module in sys.modules.items() if name.startswith(("ray", "openrlhf"))} == {
        name: module for name, module in before.items() if name.startswith(("ray", "openrlhf"))
    }
    assert sys.argv is arguments


def test_a_dry_run_says_what_would_run_and_writes_nothing(
    config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.arguments = ["--vllm.num_engines", "4", "--train.partial_rollout_enable"]
    train(config, tmp_path / "run", dry_run=True)
    said = capsys.readouterr().out
    assert "5: actor 1, engines 4, reference 0 (shares the actor's)" in said
    assert f"run:          {tmp_path / 'run'}, new\n" in said
    assert "asynchronous, up to 1 batch ahead" in said
    assert "judge:        by rules\n" in said
    assert "teacher" not in said
    assert "4 prompts x 4 attempts, 1 optimizer step\n" in said
    assert "3, with 12 prompts from 1 toolcall task\n" in said
    assert "16 at once, 4 for each engine, in 2 Ray actors with 1 core each\n" in said
    flags = next(line for line in said.splitlines() if line.startswith("flags:"))
    assert check(shlex.split(flags.removeprefix("flags:"))) == []
    assert said.endswith("Nothing was run. Without --dry-run this trains.\n")
    assert not (tmp_path / "run").exists()


def test_a_dry_run_says_who_judges_and_who_teaches_and_that_their_gpus_are_not_counted(
    config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.judge.kind, config.judge.base_url, config.judge.model, config.judge.votes = "prm", "http://j/v1", "grader", 1
    config.signal, config.weights.opd_baseline, config.loss.kl_coef = "combined", False, 0.01
    config.rollout.parallel, config.cluster.env_actors, config.cluster.env_servers = 5, 0, []
    config.arguments = ["--vllm.num_engines", "2"]
    train(config, tmp_path / "run", dry_run=True)
    said = capsys.readouterr().out
    assert "reference 0 (shares the actor's); the judge's are not counted\n" in said
    assert "model grader at http://j/v1, 1 vote a turn, up to 4 turns at once for each engine\n" in said
    assert "teacher:      the reference model, the initial weights\n" in said
    assert "6 at once (rollout.parallel 5 rounded up), 3 for each engine, in the engines' processes\n" in said
    config.cluster.teacher = "vllm+http://t#big"
    train(config, tmp_path / "run", dry_run=True)
    said = capsys.readouterr().out
    assert "the judge's and the teacher's are not counted\n" in said
    assert "teacher:      vllm+http://t#big\n" in said


def test_a_dry_run_says_where_a_run_would_go_on(
    config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prompts.jsonl").write_text("{}\n" * 12)
    train(config, tmp_path, resume=True, dry_run=True)
    assert f"{tmp_path}, begun again: no checkpoint yet\n" in capsys.readouterr().out
    (tmp_path / "checkpoints" / "_actor").mkdir(parents=True)
    (tmp_path / "checkpoints" / "_actor" / "latest").write_text("global_step2")
    train(config, tmp_path, resume=True, dry_run=True)
    assert f"{tmp_path}, goes on from global_step2\n" in capsys.readouterr().out


@pytest.mark.parametrize("address", ["10.0.0.1:6379", None])
def test_a_cluster_that_is_joined_is_told_of_keys_and_its_hosts_have_room_for_every_engines_environments(
    address: str | None, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wrapt")
    told: dict[str, Any] = {}
    ray = SimpleNamespace(
        init=lambda runtime_env, **options: told.update(runtime_env["env_vars"]),
        cluster_resources=lambda: {"GPU": 4},
        shutdown=lambda: None,
        exceptions=SimpleNamespace(RayError=OSError),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(os, "environ", os.environ | {"OPENAI_API_KEY": "secret", "RAY_ADDRESS": address or ""})
    monkeypatch.setattr(hooks, "install", lambda: None)
    monkeypatch.setattr(launch, "enter", lambda words: None)

    def start(config: Config, parallel: int) -> contextlib.AbstractContextManager[None]:
        told["parallel"] = parallel
        return contextlib.nullcontext()

    monkeypatch.setattr(launch, "start_environments", start)
    config.arguments = ["--vllm.num_engines", "3"]
    train(config, tmp_path / "run")
    assert told.get("OPENAI_API_KEY") == ("secret" if address else None)
    assert told["parallel"] == 3 * 6


def test_a_name_that_is_cut_short_starts_nothing(config: Config, tmp_path: Path) -> None:
    config.arguments = ["--ds.zero_stag", "3"]
    with pytest.raises(UserError, match=r"unrecognized arguments: --ds.zero_stag 3"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_dry_run_lets_openrlhf_check_what_is_passed_on(config: Config, tmp_path: Path) -> None:
    config.arguments = ["--actor.adam.learning_rate", "1"]
    with pytest.raises(UserError, match=r"OpenRLHF: unrecognized arguments: --actor.adam.learning_rate 1"):
        train(config, tmp_path / "run", dry_run=True)


def test_a_run_is_neither_begun_twice_nor_resumed_before_it_was_begun(config: Config, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run to resume"):
        train(config, tmp_path, resume=True, dry_run=True)
    (tmp_path / "prompts.jsonl").write_text("{}\n" * 12)
    train(config, tmp_path, resume=True, dry_run=True)
    with pytest.raises(UserError, match="add --resume to go on with it"):
        train(config, tmp_path, dry_run=True)


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "version", lambda name: "0.12.0")
    with pytest.raises(UserError, match=r"openrlhf 0\.12\.0 is installed, this trainer works with 0\.11\.2"):
        hooks.check_version()


def test_a_dry_run_needs_no_openrlhf(
    config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "is_installed", lambda: False)
    train(config, tmp_path / "run", dry_run=True)
    assert "its own parser has not read the flags" in capsys.readouterr().out
