"""A verifier that hangs, crashes or cannot write: aborted with its log, retried, counted; what it started is gone."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.core.episode import Status
from tests.faults.conftest import DONE
from tests.faults.play import evaluate, open_env, play

MakeTasks = Callable[..., str]
QUICK = "[verifier]\ntimeout_sec = 0.5\n"
FILL = "head -c 400000000 /dev/zero > {place}/fill || true\n"
SMALL = "[environment]\nstorage_mb = 32\n"
REWARD = "echo 1 > /logs/verifier/reward.txt\n"


@pytest.mark.parametrize("hang", ["sleep 1000", "trap '' TERM INT HUP; while :; do sleep 1000; done"])
def test_one_that_hangs(backend: str, make_tasks: MakeTasks, tmp_path: Path, hang: str) -> None:
    hanging = f"echo looking closely\n(setsid sleep 1000 &)\n{hang}\n{REWARD}"
    summary, results = evaluate(make_tasks({"one": hanging}, toml=QUICK), tmp_path / "out", backend=backend)
    result = results["one"]
    assert (result.status, result.score, result.attempts) == (Status.ABORTED, None, 3)
    assert result.error is not None
    assert "ran over its 0.5 s; log: looking closely" in result.error
    assert (summary.n, summary.statuses) == (0, {"ABORTED": 1})


def test_one_that_dies_after_its_verdict_has_given_it(backend: str, make_tasks: MakeTasks, tmp_path: Path) -> None:
    tasks = make_tasks({"one": f"{DONE}kill -9 $$\n", "two": f"{DONE}kill -9 -1\n"})
    _, results = evaluate(tasks, tmp_path / "out", "touch done", backend=backend)
    assert {name: each.score for name, each in results.items()} == {"one": 1.0, "two": 1.0}


@pytest.mark.parametrize(
    "crash", ["exit 3", "kill -9 $$", "kill -9 -1; sleep 1", "rm -rf /logs", REWARD.replace("1", "nan")]
)
def test_one_that_gives_no_verdict(backend: str, make_tasks: MakeTasks, tmp_path: Path, crash: str) -> None:
    summary, results = evaluate(make_tasks({"one": f"echo said\n{crash}\n"}), tmp_path / "out", backend=backend)
    assert (results["one"].status, results["one"].score) == (Status.ABORTED, None)
    assert "said" in str(results["one"].error)
    assert summary.statuses == {"ABORTED": 1}


@pytest.mark.parametrize("place", ["/app", "/tmp", "/dev/shm"])
def test_an_agent_that_fills_the_disk_is_still_judged(backend: str, make_tasks: MakeTasks, place: str) -> None:
    async def main() -> None:
        env = open_env(make_tasks({"one": DONE}, toml=SMALL), backend=backend)
        try:
            assert (await play(env, "touch done", FILL.format(place=place))).outcome == 1.0
            assert (await play(env, FILL.format(place=place))).outcome == 0.0
        finally:
            await env.aclose()

    asyncio.run(main())


def test_a_verifier_that_fills_the_disk_gives_no_verdict(backend: str, make_tasks: MakeTasks, tmp_path: Path) -> None:
    fills = f"{FILL.format(place='/app')}{FILL.format(place='/app').replace('/fill', '/more')}{REWARD}"
    summary, results = evaluate(make_tasks({"one": fills}, toml=SMALL), tmp_path / "out", backend=backend)
    assert (results["one"].status, results["one"].attempts) == (Status.ABORTED, 3)
    assert "No space left on device" in str(results["one"].error)
    assert summary.statuses == {"ABORTED": 1}
