from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from trainers.config import load_config
from trainers.openrlhf.settings import from_environment, passed_on, to_environment


def test_settings_arrive_as_they_were_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = load_config("terminal", None, {"env.max_steps": "3", "cluster.flags.vllm.num_engines": "2"})
    monkeypatch.chdir(tmp_path)
    for name, value in to_environment(sent, Path("runs/one")).items():
        monkeypatch.setenv(name, value)
    assert from_environment() == (sent, tmp_path / "runs" / "one")


def test_what_workers_of_a_joined_cluster_need_is_passed_on_where_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(passed_on()):
        monkeypatch.delenv(name)
    assert passed_on() == {}
    given = {
        "OPENAI_API_KEY": "of the judge",
        "CLAW_API_KEY": "of the servers",
        "CLAW_CACHE": "/shared/claw",
        "HF_HOME": "/shared/hub",
        "HF_TOKEN": "of the hub",
    }
    for name, value in (given | {"PATH": "/bin"}).items():
        monkeypatch.setenv(name, value)
    assert passed_on() == given


def test_a_process_of_no_run_is_told_how_to_start_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAW_TRAIN_CONFIG", raising=False)
    with pytest.raises(UserError, match="claw train --trainer openrlhf"):
        from_environment()
