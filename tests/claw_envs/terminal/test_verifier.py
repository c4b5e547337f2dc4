"""Verdicts in real sandboxes: what counts as one; everything else is infrastructure's failure, never a score."""

import asyncio
import importlib.metadata
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.env import Outcome
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from claw_envs.sandbox import make_sandbox
from claw_envs.terminal.env import TerminalEnv
from claw_envs.terminal.formats.rewards import parse_rewards
from claw_envs.terminal.loader import load
from claw_envs.terminal.verifier import LOG_LENGTH, verify

MakeTask = Callable[..., Path]
REWARD = "/logs/verifier/reward.txt"
SUMMARY = "echo '== short test summary info =='\n"


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
        ("reward.json", b"[" * 100_000, "not JSON"),
        ("reward.json", b"NaN", "not JSON"),
        ("reward.json", b"1e999", "not"),
        ("reward.json", b"1" + b"0" * 400, "not a finite number"),
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


def verified(task: Task, *before: str) -> Outcome:
    """The verdict after the agent has run the commands `before`."""

    async def main() -> Outcome:
        assert task.sandbox is not None
        sandbox = make_sandbox(task.sandbox)
        try:
            await sandbox.start()
            for command in before:
                await sandbox.exec(["/bin/bash", "-c", command], timeout=30.0)
            async with asyncio.timeout(60.0):
                return await verify(sandbox, task)
        finally:
            await sandbox.close()

    return asyncio.run(main())


@pytest.fixture
def harbor(make_task: MakeTask) -> Callable[..., Outcome]:
    """`harbor(test, *before, toml=, files=)`: the verdict of a Harbor task with that test script."""

    def run(test: str, *before: str, **parts: Any) -> Outcome:
        return verified(load(str(make_task(test=test, **parts)))[0], *before)

    return run


@pytest.fixture
def bench(make_tb_task: MakeTask) -> Callable[..., Outcome]:
    """The same for a Terminal-Bench task with that run-tests.sh."""

    def run(test: str, *before: str, **parts: Any) -> Outcome:
        return verified(load(str(make_tb_task(test=test, **parts)))[0], *before)

    return run


# --- Harbor -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "reward"),
    [
        (f"echo 0.5 > {REWARD}", 0.5),
        (f"echo 2 > {REWARD}; exit 7", 2.0),
        (f"""echo 0 > {REWARD}; echo '{{"reward": 0.75}}' > /logs/verifier/reward.json""", 0.75),
        (f'cat "$(dirname "$0")/given/score" > {REWARD}', 1.0),
        (f"[ $PWD = /app ] && [ $KEY = value ] && echo 1 > {REWARD}", 1.0),
    ],
)
def test_the_number_is_the_reward_as_it_is(harbor: Callable[..., Outcome], test: str, reward: float) -> None:
    outcome = harbor(test, toml='[verifier.env]\nKEY = "value"\n', files={"tests/given/score": "1\n"})
    assert outcome.score == reward


@pytest.mark.parametrize(
    ("test", "toml", "said"),
    [
        ("echo the log says why; exit 3", "", "exit code 3"),
        ("echo the log says why", "", "no reward.json or reward.txt"),
        (f"echo the log says why; echo nan > {REWARD}", "", "finite"),
        (f"echo the log says why; echo inf > {REWARD}", "", "finite"),
        (f"echo the log says why; : > {REWARD}", "", "empty"),
        (f"echo the log says why; : > /logs/verifier/reward.json; echo 1 > {REWARD}", "", "empty"),
        (f"echo the log says why; mkdir {REWARD}", "", "no verdict"),
        ("echo the log says why; sleep 600", "[verifier]\ntimeout_sec = 1.0", "ran over its 1 s"),
        (f"echo the log says why; echo 1 > {REWARD}; sleep 600", "[verifier]\ntimeout_sec = 1.0", "ran over its 1 s"),
        ("echo the log says why; kill -9 $$", "", "no verdict"),
    ],
)
def test_without_a_number_there_is_no_verdict(harbor: Callable[..., Outcome], test: str, toml: str, said: str) -> None:
    with pytest.raises(InfrastructureError, match="the log says why") as caught:
        harbor(test, toml=toml)
    assert said in str(caught.value)


def test_an_episode_without_a_verdict_is_aborted(make_task: MakeTask) -> None:
    env = TerminalEnv(str(make_task(test="echo the log says why; exit 3")))
    try:
        env.reset(seed=0)
        _, reward, terminated, truncated, info = env.step("```bash\nsubmit\n```")
    finally:
        env.close()
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "ABORTED")
    assert "the log says why" in info["error"]
    assert "outcome" not in info


def test_the_end_of_a_long_log_is_kept(harbor: Callable[..., Outcome]) -> None:
    outcome = harbor(f"seq 100000; echo the end; echo 1 > {REWARD}")
    assert outcome.report["log"].endswith("99999\n100000\nthe end")
    assert len(outcome.report["log"]) <= LOG_LENGTH


CTRF = """echo '{"results": {"tests": [{"status": "passed"}, {"status": "failed"}]}}' > /logs/verifier/ctrf.json\n"""


@pytest.mark.parametrize(
    ("test", "counts"),
    [
        (f"{CTRF}echo 0 > {REWARD}", (1, 2)),
        (f"echo '{{' > /logs/verifier/ctrf.json; echo 0 > {REWARD}", None),
        (f"echo '== 1 failed, 3 passed in 0.1s =='; echo 0 > {REWARD} # pytest", (3, 4)),
        (f"echo '== 3 passed in 0.1s =='; echo 1 > {REWARD} # pytest", (3, 3)),
        (f"echo '== 3 passed in 0.1s =='; echo 0 > {REWARD} # pytest", None),
        (f"echo '== 3 passed in 0.1s =='; echo 1 > {REWARD}", None),
        (f"echo 1 > {REWARD}", None),
    ],
)
def test_tests_are_counted_where_they_say_how_many(
    harbor: Callable[..., Outcome], test: str, counts: tuple[int, int] | None
) -> None:
    report = harbor(test).report
    assert (report.get("passed"), report.get("total")) == (counts or (None, None))


# --- Terminal-Bench -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "score"), [("true", 0.0), ("touch done", 1.0), ("touch /app/done; rm -r /tests", 1.0)]
)
def test_the_log_is_the_verdict(bench: Callable[..., Outcome], before: str, score: float) -> None:
    outcome = bench('bash "$TEST_DIR/check.sh"', before)
    assert outcome.score == score
    assert outcome.report["tests"] == {"check.py::test_done": score == 1.0}
    assert (outcome.report["passed"], outcome.report["total"]) == (int(score), 1)


def test_some_passed_tests_are_counted_but_are_not_a_pass(bench: Callable[..., Outcome]) -> None:
    outcome = bench(f"{SUMMARY}echo PASSED a; echo PASSED b; echo FAILED c")
    assert (outcome.score, outcome.report["passed"], outcome.report["total"]) == (0.0, 2, 3)


def test_the_tests_find_themselves_as_in_the_original(bench: Callable[..., Outcome]) -> None:
    test = f'[ "$TEST_DIR" = /tests ] && [ "$PWD" = /app ] && [ -x /tests/sub/x ] || exit 1\n{SUMMARY}echo PASSED a'
    files = {"tests/sub/x": ""}
    with pytest.raises(InfrastructureError, match="exit code 1"):
        bench(test, files=files)
    outcome = bench(test.replace("-x", "-f"), files=files)
    assert outcome.score == 1.0


@pytest.mark.parametrize(
    ("test", "yaml", "said"),
    [
        ("echo the log says why; exit 3", "", "no verdict (exit code 3)"),
        (f"echo the log says why; {SUMMARY}", "", "names no test"),
        ("echo the log says why; kill -9 $$", "", "no verdict"),
        ("echo the log says why; sleep 600", "max_test_timeout_sec: 1", "ran over its 1 s"),
        ("echo the log says why", "parser_name: swebench", "SWEBench results starts here"),
    ],
)
def test_a_log_without_results_is_no_verdict(bench: Callable[..., Outcome], test: str, yaml: str, said: str) -> None:
    with pytest.raises(InfrastructureError, match="the log says why") as caught:
        bench(test, yaml=f"instruction: do\n{yaml}\n")
    assert said in str(caught.value)


def test_what_tests_run_as_the_agents_user_cannot_read_them(bench: Callable[..., Outcome]) -> None:
    read = 'setpriv --reuid=1000 --regid=1000 --clear-groups cat "$TEST_DIR/check.sh"'
    outcome = bench(
        f"{SUMMARY}[ -r /tests/check.sh ] && echo PASSED there; {read} && echo FAILED hidden || echo PASSED hidden"
    )
    assert outcome.report["tests"] == {"there": True, "hidden": True}


# --- pytest itself ------------------------------------------------------------------------------------------------

TEST = """from pathlib import Path

def test_done():
    assert Path("/app/done").exists()

def test_always():
    pass
"""
RUN_PYTEST = 'cd "$TEST_DIR/packages" && python3 -m pytest "$TEST_DIR/test_outputs.py" -rA'
FORGED = "def pytest_collection_modifyitems(items):\n    del items[0]\n"


def vendor(target: Path) -> None:
    """The pytest that runs this test, as files for a sandbox that has none."""
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        distribution = importlib.metadata.distribution(name)
        for file in distribution.files or ():
            source = Path(str(distribution.locate_file(file)))
            if file.parts[0] not in ("..", "pygments") and "__pycache__" not in file.parts and source.is_file():
                (target / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target / file)


@pytest.mark.parametrize(
    ("before", "score", "passed"),
    [
        ("true", 0.0, 1),
        ("touch done", 1.0, 2),
        (f"printf '{FORGED}' | tee /conftest.py > conftest.py; echo '[pytest]' > /pytest.ini", 0.0, 1),
        ("printf '[pytest]\\naddopts = -k always\\n' | tee /pytest.ini /app/pytest.ini /tox.ini > setup.cfg", 0.0, 1),
        (
            "echo 'import os; os._exit(0)' | tee pytest.py sitecustomize.py usercustomize.py pluggy.py > pathlib.py",
            0.0,
            1,
        ),
    ],
)
def test_pytest_gives_the_verdict_and_takes_nothing_of_the_agents(
    make_tb_task: MakeTask, before: str, score: float, passed: int
) -> None:
    folder = make_tb_task(test=RUN_PYTEST, files={"tests/test_outputs.py": TEST})
    vendor(folder / "tests" / "packages")
    outcome = verified(load(str(folder))[0], before)
    assert (outcome.score, outcome.report["passed"], outcome.report["total"]) == (score, passed, 2)
