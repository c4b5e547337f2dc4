"""Episodes as users run them: through `gym.make` and `run_episode`, or as the benchmark `terminal`."""

import asyncio
from pathlib import Path
from typing import Any

import gymnasium as gym

import claw_envs  # noqa: F401 - registers the environments
from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Episode
from claw_envs.core.tasksets import load_tasks
from evals.benchmark import Benchmark
from evals.results import EpisodeResult, ResultFile
from evals.runner import run_benchmark
from evals.summary import Summary
from evals.terminal import score
from tests.faults.script import Script
from trainers.policies.base import Sampling
from trainers.rollout import run_episode

GREEDY = Sampling(temperature=0)


def open_env(tasks: str | None, **kwargs: Any) -> ClawEnv:
    """A terminal environment; with a server, its own tasks."""
    given = {} if "server" in kwargs else {"tasks": tasks}
    env = gym.make("claw/terminal-v0", **given, **kwargs).unwrapped
    assert isinstance(env, ClawEnv)
    return env


async def play(env: ClawEnv, *commands: str) -> Episode:
    """One episode in which the agent runs `commands`, then submits."""
    return await run_episode(env, Script(*commands), sampling=GREEDY, episode_id="e")


class _Played(Benchmark):
    def make_env(self) -> ClawEnv:
        return open_env(str(self.settings["tasks"]), **self.env_kwargs)


async def benchmark(tasks: str, out: Path, script: Script, **env: Any) -> Summary:
    """The benchmark `terminal` over `tasks`, two episodes at a time, with two retries."""
    played = _Played(
        name="terminal",
        family="terminal",
        tasks=load_tasks("terminal", tasks),
        score=score,
        sampling=GREEDY,
        env_kwargs=env,
        settings={"tasks": tasks},
    )
    return await run_benchmark(played, script, out=out, parallel=2, samples=1, seed=0)


def results_of(out: Path) -> dict[str, EpisodeResult]:
    """A benchmark's results by task."""
    return {each.task_id: each for each in ResultFile(out / "episodes.jsonl").results.values()}


def evaluate(tasks: str, out: Path, *commands: str, **env: Any) -> tuple[Summary, dict[str, EpisodeResult]]:
    """The benchmark's summary and results by task, where the agent runs `commands`, then submits."""
    summary = asyncio.run(benchmark(tasks, out, Script(*commands), **env))
    return summary, results_of(out)
