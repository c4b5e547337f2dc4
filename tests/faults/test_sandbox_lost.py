"""The sandbox is killed under a running episode: the episode is aborted, never scored, retried, and counted."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from claw_envs.core.episode import Status
from claw_envs.terminal.env import TerminalEnv
from tests.faults.conftest import DONE
from tests.faults.play import evaluate, open_env, play
from tests.faults.script import WAIT, block, strike

MakeTasks = Callable[..., str]


async def kill(env: TerminalEnv) -> None:
    """Kill the whole sandbox from outside, at one stroke."""
    sandbox: Any = env._lease.sandbox
    if env._lease.backend == "namespace":
        os.kill(sandbox._holder.pid, signal.SIGKILL)
    else:
        engine = sandbox._container.engine
        await engine.call(engine.api.kill, sandbox._container.id)


def test_the_episode_is_aborted_and_the_next_one_is_fine(
    backend: str, make_tasks: MakeTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    strike(monkeypatch, kill, one=1)

    async def main() -> None:
        env = open_env(make_tasks({"one": DONE}), backend=backend)
        try:
            episode = await play(env, "touch done", WAIT)
            assert (episode.status, episode.outcome) == (Status.ABORTED, None)
            assert episode.error
            assert len(episode.turns) == 1
            assert (await play(env, "touch done", WAIT)).outcome == 1.0
        finally:
            await env.aclose()

    asyncio.run(main())


def test_gymnasium_is_told(backend: str, make_tasks: MakeTasks, monkeypatch: pytest.MonkeyPatch) -> None:
    strike(monkeypatch, kill, one=1)
    env = open_env(make_tasks({"one": DONE}), backend=backend)
    try:
        env.reset()
        observation, reward, terminated, truncated, info = env.step(block(WAIT))
        assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "ABORTED")
        assert observation["text"] == f"Episode aborted: {info['error']}"
        assert "outcome" not in info
        with pytest.raises(gym.error.ResetNeeded):
            env.step(block("true"))
    finally:
        env.close()


def test_it_is_run_again_and_what_is_always_lost_is_counted(
    backend: str, make_tasks: MakeTasks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    strike(monkeypatch, kill, always=3, once=1)
    tasks = make_tasks({"always": DONE, "once": DONE, "never": DONE})
    summary, results = evaluate(tasks, tmp_path / "out", "touch done", WAIT, backend=backend)
    assert {name: (each.status, each.score, each.attempts) for name, each in results.items()} == {
        "always": (Status.ABORTED, None, 3),
        "once": (Status.COMPLETED, 1.0, 2),
        "never": (Status.COMPLETED, 1.0, 1),
    }
    assert (summary.n, summary.score, summary.statuses) == (2, 1.0, {"ABORTED": 1, "COMPLETED": 2})


@pytest.mark.parametrize("when", ["_verify", "_start"])
def test_one_that_is_gone_before_a_call_is_noticed(
    backend: str, make_tasks: MakeTasks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, when: str
) -> None:
    """Killed between the last step and the verifier, or between two episodes in one environment."""
    killed = False
    original = getattr(TerminalEnv, when)

    async def calling(env: TerminalEnv, *arguments: Any) -> Any:
        nonlocal killed
        if env._lease.sandbox is not None and not killed:
            killed = True
            await kill(env)
        return await original(env, *arguments)

    monkeypatch.setattr(TerminalEnv, when, calling)
    tasks = make_tasks({f"task{i}": DONE for i in range(6)})
    summary, results = evaluate(tasks, tmp_path / "out", "touch done", backend=backend)
    assert killed
    assert (summary.score, summary.statuses) == (1.0, {"COMPLETED": 6})
    assert max(each.attempts for each in results.values()) == (2 if when == "_verify" else 1)


def test_an_episode_that_is_cancelled_in_a_step_leaves_nothing(
    backend: str, make_tasks: MakeTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client is lost: whoever drove the episode is cancelled as a command runs."""

    async def main() -> None:
        env = open_env(make_tasks({"one": DONE}), backend=backend)
        playing = asyncio.ensure_future(play(env, WAIT))

        async def cancel(_: TerminalEnv) -> None:
            playing.cancel()

        strike(monkeypatch, cancel, one=1)
        with pytest.raises(asyncio.CancelledError):
            await playing
        await env.aclose()

    asyncio.run(main())
