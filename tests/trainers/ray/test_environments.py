"""Environments of a run behind servers that somebody else started; no Ray."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claw_envs.chat.env import ChatEnv
from claw_envs.core.errors import UserError
from claw_envs.server.env import RemoteEnv
from tests.claw_envs.server.hosting import KEY, Hosted
from trainers.config import Config, load_config
from trainers.ray.environments import make_env, start_environments


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Hosted]]:
    started = [Hosted("chat", log=tmp_path / "log", key=KEY) for _ in range(2)]
    yield started
    for server in started:
        assert server.stop() == 0


def config(urls: list[str]) -> Config:
    """Two turns with a student who goes on asking."""
    run = load_config("chat", None, {"cluster.env_servers": str(urls)})
    run.env = {"max_steps": 2, "mix": {"correction": 1.0, "vague": 0.0, "reask": 0.0}}
    return run


def test_environments_live_on_the_servers_of_the_settings(
    servers: list[Hosted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAW_API_KEY", KEY)
    run = config([server.url for server in servers])
    with start_environments(run):
        first = make_env(run)
        envs = [first, make_env(run, like=first)]
        for env in envs:
            env.reset(seed=0)
        assert [server.metric("leases") for server in servers] == [1, 1]
        ended = [first.step("Let me think.")[3] for _ in range(2)]
        assert ended == [False, True], "max_steps of [env] holds on the server"
        for env in envs:
            env.close()


def test_servers_that_do_not_answer_or_refuse_the_key_are_one_line(servers: list[Hosted]) -> None:
    with pytest.raises(UserError, match="refused the API key: set CLAW_API_KEY"):
        start_environments(config([servers[0].url]))
    with pytest.raises(UserError, match="does not answer"):
        start_environments(config(["http://127.0.0.1:9"]))


def test_servers_with_different_tasks_are_refused(servers: list[Hosted], tmp_path: Path) -> None:
    one = tmp_path / "one.jsonl"
    one.write_text('{"question": "What is 2 + 3?", "answer": "5"}\n')
    other = Hosted("chat", "--set", f"tasks={one}", log=tmp_path / "log")
    plain = Hosted("chat", log=tmp_path / "log")
    try:
        with pytest.raises(UserError, match="have different tasks; start them with the same"):
            start_environments(config([plain.url, other.url]))
    finally:
        assert [plain.stop(), other.stop()] == [0, 0]


def test_without_hosts_or_servers_environments_are_made_in_this_process() -> None:
    run = load_config("chat", None, {})
    with start_environments(run):
        env = make_env(run)
    assert isinstance(env, ChatEnv)
    assert not isinstance(env, RemoteEnv)


def test_hosts_and_servers_exclude_each_other() -> None:
    run = load_config("chat", None, {"cluster.env_actors": "1", "cluster.env_servers": '["http://127.0.0.1:9"]'})
    with pytest.raises(UserError, match="exclude each other: choose one"):
        start_environments(run)
