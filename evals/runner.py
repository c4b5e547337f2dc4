"""One runner for all benchmarks: bounded parallelism, results written as episodes end, resumable.

Episodes that infrastructure aborted are begun again, in a fresh environment, a bounded number of times; what is still
aborted then is recorded, counted, left out of every figure, and tried again by the next call.
"""

import asyncio
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from claw_envs.core.codec import from_json, to_json
from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Episode, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from evals.benchmark import Benchmark
from evals.results import EpisodeResult, ResultFile, transcript, write_json
from evals.summary import Summary, summarise
from trainers.policies.base import Policy
from trainers.rollout import run_episode

EPISODES, SUMMARY, SETTINGS = "episodes.jsonl", "summary.json", "settings.json"


class Job(NamedTuple):
    """One episode to run."""

    task: Task
    sample_index: int
    seed: int


def plan(benchmark: Benchmark, *, samples: int, seed: int) -> list[Job]:
    """Every episode of the benchmark, sample by sample, so that a stopped run has covered many tasks."""
    return [
        Job(task, index, episode_seed(seed, task.id, index)) for index in range(samples) for task in benchmark.tasks
    ]


def episode_seed(seed: int, task_id: str, sample_index: int) -> int:
    """The seed of an episode, which depends on these alone, never on what else is run."""
    return zlib.crc32(f"{seed}/{task_id}/{sample_index}".encode())


async def run_benchmark(
    benchmark: Benchmark,
    policy: Policy,
    *,
    out: Path,
    parallel: int,
    samples: int,
    seed: int,
    retries_aborted: int = 2,
    model: str = "",
    on_result: Callable[[EpisodeResult], None] = lambda result: None,
) -> Summary:
    """Run what `out` does not yet hold and write `episodes.jsonl`, `settings.json` and `summary.json` there.

    At the end `benchmark.finish` runs; the summary is on disk before, and again after where there is a second opinion.

    Args:
        out: folder of the results; the same folder again resumes.
        parallel: most environments at a time.
        samples: episodes a task.
        seed: of task seeds and sampling.
        retries_aborted: how often an aborted episode is begun again.
        model: name for the report.
        on_result: told of every new result.

    Raises:
        UserError: if `out` holds results of another benchmark, model, seed or setting, or is no folder.
    """
    settings = _settings(benchmark, model, seed)
    _claim(out, settings)
    file = ResultFile(out / EPISODES)
    jobs = plan(benchmark, samples=samples, seed=seed)
    done = {key for key, result in file.results.items() if result.status is not Status.ABORTED}
    todo = [job for job in jobs if (job.task.id, job.sample_index) not in done]

    def record(result: EpisodeResult) -> None:
        file.add(result)
        on_result(result)

    started = time.monotonic()
    await run_jobs(
        benchmark.placed(out), policy, todo, parallel=parallel, retries_aborted=retries_aborted, record=record
    )
    results = [file.results[job.task.id, job.sample_index] for job in jobs]
    summary = _summary(benchmark, results, model=model, settings=settings)
    summary.wall_s, summary.resumed = round(time.monotonic() - started, 3), len(jobs) - len(todo)
    summary.settings |= {"samples": samples, "parallel": parallel}
    write_json(out / SUMMARY, summary)
    summary.official = await benchmark.finish(out, model, results)
    if summary.official is not None:
        write_json(out / SUMMARY, summary)
    return summary


def _summary(benchmark: Benchmark, results: list[EpisodeResult], *, model: str, settings: dict[str, Any]) -> Summary:
    for result in results:
        result.metrics |= benchmark.derive(result)
    return summarise(
        results,
        benchmark=benchmark.name,
        model=model,
        metrics=benchmark.metrics(results),
        settings=settings,
        labels=benchmark.labels,
        shares=benchmark.shares,
    )


async def run_jobs(
    benchmark: Benchmark,
    policy: Policy,
    jobs: Iterable[Job],
    *,
    parallel: int,
    retries_aborted: int,
    record: Callable[[EpisodeResult], None],
) -> None:
    """Run `jobs` in at most `parallel` environments at a time; `record` gets every result when its episode ends."""
    waiting = deque(jobs)
    policy = benchmark.wrap(policy)

    async def worker() -> None:
        env: ClawEnv | None = None
        try:
            while waiting:
                job = waiting.popleft()
                for attempt in range(1, retries_aborted + 2):
                    env = env or benchmark.make_env()
                    result = await _attempt(benchmark, policy, env, job)
                    result.attempts = attempt
                    if result.status is not Status.ABORTED:
                        break
                    await env.aclose()
                    env = None
                record(result)
        finally:
            if env is not None:
                await env.aclose()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(max(parallel, 1), len(waiting))):
                group.create_task(worker())
    except BaseExceptionGroup as errors:  # callers handle UserError and bugs, not groups of them
        raise errors.exceptions[0] from errors


async def _attempt(benchmark: Benchmark, policy: Policy, env: ClawEnv, job: Job) -> EpisodeResult:
    started = time.monotonic()
    try:
        episode = await run_episode(
            env,
            policy,
            sampling=benchmark.sampling._replace(seed=job.seed),
            task=job.task.id,
            seed=job.seed,
            episode_id=f"{benchmark.name}/{job.task.id}/{job.sample_index}",
            group_id=job.task.id,
            sample_index=job.sample_index,
        )
        scored = None if episode.status is Status.ABORTED else await benchmark.score(episode, job.task)
        error = episode.error
    except InfrastructureError as failure:
        episode, scored, error = Episode(id="", task_id=job.task.id, family=benchmark.family), None, str(failure)
    return EpisodeResult(
        task_id=job.task.id,
        sample_index=job.sample_index,
        seed=job.seed,
        status=Status.ABORTED if scored is None else episode.status,
        score=scored.score if scored else None,
        metrics=scored.metrics if scored else {},
        ending=scored.ending if scored else "",
        report=episode.report,
        transcript=await asyncio.to_thread(transcript, episode),
        wall_s=round(time.monotonic() - started, 3),
        error=error,
    )


def _settings(benchmark: Benchmark, model: str, seed: int) -> dict[str, Any]:
    """What results in one folder have in common."""
    return {
        "benchmark": benchmark.name,
        "model": model,
        "seed": seed,
        "sampling": benchmark.sampling._replace(seed=None)._asdict(),
        "env": dict(benchmark.env_kwargs),
        **benchmark.settings,
    }


def _claim(out: Path, settings: dict[str, Any]) -> None:
    """Write down whose results the folder holds, or check that they are ours; without a result it is nobody's."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{out} cannot be made ({error.strerror}); choose another --out") from error
    path, episodes = out / SETTINGS, out / EPISODES
    ours = from_json(to_json(settings), dict[str, Any])
    if not (path.exists() and episodes.exists() and episodes.stat().st_size):
        write_json(path, ours)
        return
    try:
        theirs = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise UserError(f"{path} is not readable ({error}); choose another --out") from error
    different = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    if different:
        different = ["benchmark"] if "benchmark" in different else different  # the rest follows from it
        was = ", ".join(f"{key}={theirs.get(key)!r} (now {ours.get(key)!r})" for key in different)
        raise UserError(f"{out} holds results of other settings: {was}; choose another --out")
