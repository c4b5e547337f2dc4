"""Scores a policy as it stands, without files: what the functions share that a trainer calls during a run."""

from claw_envs.core.episode import Status
from claw_envs.core.errors import InfrastructureError
from evals.benchmark import Benchmark
from evals.results import EpisodeResult
from evals.runner import plan, run_jobs
from evals.summary import summarise
from trainers.policies.base import Policy


async def figures_of(
    policy: Policy, benchmark: Benchmark, *, parallel: int, samples: int = 1, seed: int = 0
) -> dict[str, float]:
    """Run every episode of `benchmark`.

    Args:
        parallel: episodes at a time.
        samples: episodes a task.
        seed: of task seeds and sampling.

    Returns:
        `score` with its 95 % interval `score_low`, `score_high`, then the benchmark's own figures, those of them that
        some episode has.

    Raises:
        UserError: if the environment does not take an option.
        InfrastructureError: if not one episode could be scored.
    """
    results: list[EpisodeResult] = []
    jobs = plan(benchmark, samples=samples, seed=seed)
    await run_jobs(benchmark, policy, jobs, parallel=parallel, retries_aborted=2, record=results.append)
    summary = summarise(results, benchmark=benchmark.name, metrics=benchmark.metrics(results))
    if summary.score is None or summary.low is None or summary.high is None:
        reasons = {result.error for result in results if result.status is Status.ABORTED}
        raise InfrastructureError(f"no episode could be scored: {'; '.join(map(str, reasons))}")
    return {"score": summary.score, "score_low": summary.low, "score_high": summary.high, **summary.metrics}
