from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from trainers.config import load_config
from trainers.run import RunDirectory


def test_file_then_overrides(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('signal = "opd"\nupdates = 3\n[optim]\nlr = 1e-4\n[env]\npersona = "teacher"\n')
    config = load_config(
        "chat", file, {"updates": "5", "optim.microbatch": "2", "env.persona": "student", "loss.dual_clip": "3.0"}
    )
    assert (config.signal, config.updates, config.optim.lr, config.optim.microbatch) == ("opd", 5, 1e-4, 2)
    assert config.env == {"persona": "student"}
    assert config.loss.dual_clip == 3.0


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"optim.lrr": "1"}, "lrr"),
        ({"signal": "best"}, "signal"),
        ({"updates": "many"}, "updates"),
        ({"updates": "-1"}, "updates must be at least 0"),
        ({"batch_size": "0"}, "batch_size must be at least 1"),
        ({"generation.temperature": "0"}, "temperature must be above 0"),
        ({"signal": "step_index", "rollout.group_size": "32"}, "must be a multiple"),
        ({"eval.every": "0"}, "eval.every must be at least 1"),
        ({"lora.rank": "-1"}, "lora.rank must be at least 0"),
        ({"loss.importance_cap": "0.0"}, "importance_cap must be above 0"),
        ({"loss.kl_coef": "-0.1"}, "loss.kl_coef must be at least 0"),
        ({"judge.kind": "prm"}, "judge.base_url"),
        ({"rollout.max_staleness": "-1"}, "max_staleness"),
        ({"family.x": "1"}, "family is not a table"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(overrides: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        load_config("chat", None, overrides)
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_config(None, tmp_path / "none.toml", {})
    broken = tmp_path / "b.toml"
    broken.write_text("updates = = 3")
    with pytest.raises(UserError, match=r"b\.toml: not valid TOML"):
        load_config(None, broken, {})


def test_the_settings_kept_with_a_run_read_back_the_same(tmp_path: Path) -> None:
    config = load_config("terminal", None, {"signal": "step_index", "env.max_steps": "4"})
    RunDirectory(tmp_path / "run", resume=False).write_config(config)
    assert load_config(None, tmp_path / "run" / "config.toml", {}) == config


def test_a_run_is_not_overwritten_and_not_resumed_from_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        RunDirectory(tmp_path / "run", resume=True)
    begun = RunDirectory(tmp_path / "run", resume=False)
    assert not begun.root.exists()
    begun.write_config(load_config(None, None, {}))
    begun.store.touch()
    with pytest.raises(UserError, match="--resume"):
        RunDirectory(tmp_path / "run", resume=False)
