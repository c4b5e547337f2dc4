"""Reward files: what counts as a verdict, and that everything else is infrastructure's failure, never a score."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.terminal.env import TerminalEnv
from claw_envs.terminal.verifier import parse_rewards

MakeTask = Callable[..., Path]
SUBMIT = "```bash\nsubmit\n```"


@pytest.mark.parametrize(
    ("name", "data", "rewards"),
    [
        ("reward.txt", b"1\n", {"reward": 1.0}),
        ("reward.txt", b" 0.25 ", {"reward": 0.25}),
        ("reward.txt", b"-3", {"reward": -3.0}),
        ("reward.json", b"0.5", {"reward": 0.5}),
        ("reward.json", b'{"reward": 1, "speed": 0.2}', {"reward": 1.0, "speed": 0.2}),
        ("reward.json", b'{"tests": 0.75}', {"tests": 0.75, "reward": 0.75}),
    ],
)
def test_a_number_is_the_verdict(name: str, data: bytes, rewards: dict[str, float]) -> None:
    assert parse_rewards(name, data) == rewards


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("reward.txt", b"", "empty"),
        ("reward.txt", b" \n", "empty"),
        ("reward.txt", b"nan", "finite"),
        ("reward.txt", b"inf", "finite"),
        ("reward.txt", b"passed", "not a finite number"),
        ("reward.txt", b"1 1", "not a finite number"),
        ("reward.txt", b"\xff", "not a finite number"),
        ("reward.json", b"", "empty"),
        ("reward.json", b"{", "not JSON"),
        ("reward.json", b"NaN", "not JSON"),
        ("reward.json", b"1e999", "not"),
        ("reward.json", b"true", "not a finite number"),
        ("reward.json", b'"1"', "not a finite number"),
        ("reward.json", b"[1]", "not a finite number"),
        ("reward.json", b"{}", "no 'reward'"),
        ("reward.json", b'{"a": 1, "b": 1}', "no 'reward'"),
        ("reward.json", b'{"reward": null}', "not a finite number"),
    ],
)
def test_anything_else_is_no_verdict(name: str, data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_rewards(name, data)


@pytest.fixture
def submitted(make_task: MakeTask) -> Iterator[Callable[..., tuple[Any, ...]]]:
    envs: list[TerminalEnv] = []

    def submit(test: str, toml: str = "", files: dict[str, str] | None = None) -> tuple[Any, ...]:
        env = TerminalEnv(str(make_task(test=test, toml=toml, files=files)))
        envs.append(env)
        env.reset(seed=0)
        return env.step(SUBMIT)

    yield submit
    for env in envs:
        env.close()


@pytest.mark.parametrize(
    ("test", "reward"),
    [
        ("echo 0.5 > /logs/verifier/reward.txt", 0.5),
        ("echo 2 > /logs/verifier/reward.txt; exit 7", 2.0),
        ("""echo 0 > /logs/verifier/reward.txt; echo '{"reward": 0.75}' > /logs/verifier/reward.json""", 0.75),
        ("cat \"$(dirname \"$0\")/given/score\" > /logs/verifier/reward.txt", 1.0),
        ("[ $PWD = /app ] && [ $KEY = value ] && echo 1 > /logs/verifier/reward.txt", 1.0),
    ],
)  # fmt: skip
def test_the_number_is_the_reward_as_it_is(submitted: Callable[..., Any], test: str, reward: float) -> None:
    toml = '[verifier.env]\nKEY = "value"\n'
    _, got, terminated, _, info = submitted(test, toml, {"tests/given/score": "1\n"})
    assert (got, terminated, info["status"], info["outcome"]) == (reward, True, "COMPLETED", reward)


@pytest.mark.parametrize(
    ("test", "toml", "said"),
    [
        ("echo the log says why; exit 3", "", "exit code 3"),
        ("echo the log says why", "", "no reward.json or reward.txt"),
        ("echo the log says why; echo nan > /logs/verifier/reward.txt", "", "finite"),
        ("echo the log says why; : > /logs/verifier/reward.json; echo 1 > /logs/verifier/reward.txt", "", "empty"),
        ("echo the log says why; sleep 600", "[verifier]\ntimeout_sec = 1.0", "ran over"),
        ("echo the log says why; kill -9 $$", "", "no verdict"),
    ],
)
def test_a_verifier_without_a_verdict_aborts_the_episode(
    submitted: Callable[..., Any], test: str, toml: str, said: str
) -> None:
    _, reward, terminated, truncated, info = submitted(test, toml)
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "ABORTED")
    assert said in info["error"]
    assert "the log says why" in info["error"]
    assert "outcome" not in info
