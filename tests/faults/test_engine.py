"""The container engine is killed under an episode: aborted, counted, and removed once there is an engine again."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from claw_envs.core.episode import Status
from claw_envs.sandbox.docker.engine import connect
from claw_envs.terminal.env import TerminalEnv
from tests.faults.conftest import DONE
from tests.faults.engine import OwnEngine
from tests.faults.play import evaluate, open_env, play
from tests.faults.script import WAIT, strike


@pytest.fixture
def engine(usable: dict[str, bool | str], monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnEngine]:
    """An engine of the test's own, which the docker backend uses."""
    if usable.get("docker") is not True or os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("an engine of one's own needs root and dockerd")
    engine = OwnEngine(Path(tempfile.mkdtemp(prefix="engine-")))
    monkeypatch.setenv("DOCKER_HOST", engine.url)
    try:
        yield engine
    finally:
        connect().api.close()
        engine.remove()


def test_an_engine_that_is_killed_in_a_step_aborts_the_episode_and_the_next_one_is_fine(
    engine: OwnEngine, make_tasks: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def kill(_: TerminalEnv) -> None:
        await asyncio.to_thread(engine.kill)

    strike(monkeypatch, kill, one=1)

    async def main() -> None:
        env = open_env(make_tasks({"one": DONE}), backend="docker")
        try:
            episode = await play(env, "touch done", WAIT)
            assert (episode.status, episode.outcome) == (Status.ABORTED, None)
            assert episode.error
            await asyncio.to_thread(engine.start)
            assert (await play(env, "touch done")).outcome == 1.0
        finally:
            await env.aclose()

    asyncio.run(main())
    assert engine.containers() == []


def test_without_an_engine_every_episode_is_aborted_and_counted(
    engine: OwnEngine, make_tasks: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def kill(_: TerminalEnv) -> None:
        await asyncio.to_thread(engine.kill)

    strike(monkeypatch, kill, one=1)
    try:
        summary, results = evaluate(make_tasks({"one": DONE}), tmp_path / "out", WAIT, backend="docker")
    finally:
        engine.start()
    assert (results["one"].status, results["one"].attempts) == (Status.ABORTED, 3)
    assert (summary.n, summary.statuses) == (0, {"ABORTED": 1})
    assert evaluate(make_tasks({"one": DONE}), tmp_path / "again", "touch done", backend="docker")[0].score == 1.0
    assert engine.containers() == []
