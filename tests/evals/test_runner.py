"""The runner over real chat environments: figures, retries, resuming, bounded parallelism."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from claw_envs.core.episode import Episode, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from evals.benchmark import Benchmark, Scored
from evals.results import EpisodeResult, ResultFile
from evals.runner import plan, run_benchmark
from evals.summary import Official, Summary
from trainers.policies.base import Sampling

from .answerer import Answerer

TASKS = load_tasks("chat", "heldout")[:6]
GREEDY = Sampling(temperature=0)
IDS = [task.id for task in TASKS]


async def outcome(episode: Episode, task: Task) -> Scored:
    """1 where the first answer pleased the user."""
    return Scored(float(episode.report["content_at_once"]), {"words": float(len(episode.turns[0].response.split()))})


BENCHMARK = Benchmark(
    name="chat", family="chat", tasks=TASKS, score=outcome, sampling=GREEDY, env_kwargs={"max_steps": 1}
)


def run(policy: Answerer, out: Path, *, benchmark: Benchmark = BENCHMARK, samples: int = 1, seed: int = 7) -> Summary:
    return asyncio.run(run_benchmark(benchmark, policy, out=out, parallel=3, samples=samples, seed=seed, model="code"))


def test_every_episode_is_run_scored_and_written(tmp_path: Path) -> None:
    policy = Answerer(TASKS, right=IDS[:3])
    summary = run(policy, tmp_path, samples=2)
    assert (summary.score, summary.n, summary.tasks, summary.resumed) == (0.5, 12, 6, 0)
    assert {name: figure.value for name, figure in summary.at_k.items()} == {"avg@2": 0.5, "pass@1": 0.5, "pass@2": 0.5}
    assert summary.metrics == {"words": (5 + 3) / 2}
    assert sum(summary.statuses.values()) == 12
    assert policy.most == 3
    assert msgspec.json.decode((tmp_path / "summary.json").read_bytes(), type=Summary) == summary
    results = ResultFile(tmp_path / "episodes.jsonl").results
    assert sorted(results) == sorted((task, index) for task in IDS for index in (0, 1))
    answer = f"{TASKS[0].metadata['answer']:g}"
    assert results[IDS[0], 0].transcript[1]["content"] == f"0 + {answer} = {answer}."


def test_a_second_call_runs_only_what_is_missing(tmp_path: Path) -> None:
    run(Answerer(TASKS, right=IDS), tmp_path)
    path = tmp_path / "episodes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]) + lines[4][:30])  # killed while the fifth was written
    policy = Answerer(TASKS, right=IDS)
    summary = run(policy, tmp_path)
    assert (sum(policy.asked.values()), summary.resumed, summary.n, summary.score) == (2, 4, 6, 1.0)
    more = run(policy, tmp_path, samples=2)
    assert (sum(policy.asked.values()), more.resumed, more.n) == (8, 6, 12)


def test_aborted_episodes_are_retried_then_left_out_and_tried_again_by_the_next_call(tmp_path: Path) -> None:
    policy = Answerer(TASKS, right=IDS, fails={IDS[0]: 2, IDS[1]: 5})
    summary = run(policy, tmp_path)
    assert (summary.score, summary.n, summary.statuses["ABORTED"]) == (1.0, 5, 1)
    results = ResultFile(tmp_path / "episodes.jsonl").results
    assert (results[IDS[0], 0].status, results[IDS[0], 0].attempts) == (Status.COMPLETED, 3)
    lost = results[IDS[1], 0]
    assert (lost.status, lost.score, lost.attempts, lost.error) == (Status.ABORTED, None, 3, "the engine is gone")
    again = run(policy, tmp_path)
    assert (again.n, again.resumed, "ABORTED" in again.statuses) == (6, 5, False)
    assert policy.asked[IDS[1]] == 6


def test_a_scorer_that_cannot_be_asked_aborts_the_episode(tmp_path: Path) -> None:
    async def gone(episode: Episode, task: Task) -> Scored:
        raise InfrastructureError("no judge")

    broken = Benchmark(
        name="chat", family="chat", tasks=TASKS[:1], score=gone, sampling=GREEDY, env_kwargs={"max_steps": 1}
    )
    summary = run(Answerer(TASKS, right=IDS), tmp_path, benchmark=broken)
    assert (summary.score, summary.statuses) == (None, {"ABORTED": 1})


def test_a_users_mistake_comes_out_as_it_is(tmp_path: Path) -> None:
    async def wrong(episode: Episode, task: Task) -> Scored:
        raise UserError("bad key")

    broken = Benchmark(
        name="chat", family="chat", tasks=TASKS, score=wrong, sampling=GREEDY, env_kwargs={"max_steps": 1}
    )
    with pytest.raises(UserError, match="bad key"):
        run(Answerer(TASKS, right=IDS), tmp_path, benchmark=broken)


def test_a_folder_of_other_results_is_refused(tmp_path: Path) -> None:
    run(Answerer(TASKS, right=IDS), tmp_path)
    with pytest.raises(UserError, match=r"other settings: seed=7 \(now 8\); choose another --out"):
        run(Answerer(TASKS, right=IDS), tmp_path, seed=8)


def test_settings_that_gave_no_result_leave_the_folder_free(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="max_steps"):
        run(Answerer(TASKS, right=IDS), tmp_path, benchmark=replace(BENCHMARK, env_kwargs={"max_steps": 0}))
    assert run(Answerer(TASKS, right=IDS), tmp_path).n == 6


def test_a_file_is_no_folder_for_results(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file cannot be made \(File exists\); choose another --out"):
        run(Answerer(TASKS, right=IDS), tmp_path / "file")


def test_seeds_depend_on_the_episode_alone(tmp_path: Path) -> None:
    few = Benchmark(name="chat", family="chat", tasks=TASKS[2:4], score=outcome, sampling=GREEDY)
    all_seeds = {(job.task.id, job.sample_index): job.seed for job in plan(BENCHMARK, samples=3, seed=7)}
    assert len(set(all_seeds.values())) == 18
    for job in plan(few, samples=1, seed=7):
        assert job.seed == all_seeds[job.task.id, job.sample_index]
    policy = Answerer(TASKS, right=IDS)
    run(policy, tmp_path)
    assert sorted(map(str, policy.seeds)) == sorted(str(all_seeds[task, 0]) for task in IDS)


def test_reports_are_kept_and_what_is_derived_enters_the_summary_alone(tmp_path: Path) -> None:
    def derive(result: EpisodeResult) -> dict[str, float]:
        return {"cost": 2 * result.metrics["words"]}

    benchmark = replace(BENCHMARK, derive=derive, labels={IDS[0]: {"kind": "first"}})
    summary = run(Answerer(TASKS, right=IDS), tmp_path, benchmark=benchmark)
    again = run(Answerer(TASKS, right=IDS), tmp_path, benchmark=benchmark)
    for each in (summary, again):
        assert each.metrics == {"words": 5.0, "cost": 10.0}
        assert each.groups["kind"]["first"].metrics["cost"] == 10.0
    result = ResultFile(tmp_path / "episodes.jsonl").results[IDS[0], 0]
    assert result.metrics == {"words": 5.0}
    assert result.report["content_at_once"] is True


def test_what_a_benchmark_does_at_the_end_sees_all_results_and_the_summary_on_disk(tmp_path: Path) -> None:
    seen: list[int] = []

    async def finish(folder: Path, model: str, results: Sequence[EpisodeResult]) -> Official | None:
        assert (folder, model) == (tmp_path, "code")
        seen.append(len(results))
        written = msgspec.json.decode((tmp_path / "summary.json").read_bytes(), type=Summary)
        assert (written.n, written.official) == (6, None)
        if len(seen) == 1:
            raise InfrastructureError("the harness is gone")
        return Official(program="p", n=6, resolved=6, agree=6)

    benchmark = replace(BENCHMARK, finish=finish)
    with pytest.raises(InfrastructureError, match="harness is gone"):
        run(Answerer(TASKS, right=IDS), tmp_path, benchmark=benchmark)
    summary = run(Answerer(TASKS, right=IDS), tmp_path, benchmark=benchmark)
    assert (seen, summary.resumed) == ([6, 6], 6)
    assert summary.official == Official(program="p", n=6, resolved=6, agree=6)
    assert msgspec.json.decode((tmp_path / "summary.json").read_bytes(), type=Summary) == summary
