"""What comes before Ray is started: OpenRLHF's own parser, the dry run, and the run's directory."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from trainers.config import Config, load_config
from trainers.openrlhf import hooks
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
    assert "asynchronous, up to 1 batches ahead" in said
    assert "12 of 1 toolcall tasks" in said
    assert "4 prompts x 4 attempts, 1 optimizer steps, 3 times" in said
    assert "16 at once, in 2 Ray actors with 1 cores each" in said
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
