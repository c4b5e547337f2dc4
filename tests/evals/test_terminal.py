"""The benchmark `terminal` in real sandboxes: a policy that plays the solutions, and one that only submits."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from claw_envs.core.task import Task
from evals.results import ResultFile
from evals.runner import run_benchmark
from evals.terminal import TerminalOptions, benchmark
from trainers.policies.base import Completion, Prompt, Sampling


class Player:
    """Runs the solution of each task in `solves` in one step, then submits; of other tasks it submits nothing."""

    version = 0

    def __init__(self, tasks: Sequence[Task], *, solves: Sequence[str]) -> None:
        self._tasks, self._solves = tasks, solves

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Completion:
        messages: list[Any] = list(prompt)
        said = [str(message["content"]) for message in messages]
        task = next(task for task in self._tasks if task.instruction in said)
        first = not any(message["role"] == "assistant" for message in messages)
        command = "submit"
        if first and task.id in self._solves:
            script = (task.folder() / "solution" / "solve.sh").read_text()
            command = f"cat > /tmp/solve.sh <<'END_OF_SOLUTION'\n{script}\nEND_OF_SOLUTION\nbash /tmp/solve.sh"
        return Completion([1], [2, 3], [-1.0, -1.0], [0, 0], "stop", f"```bash\n{command}\n```")

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        return [-1.0] * len(response_ids)

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError("plain code has no weights")

    async def aclose(self) -> None:
        """Nothing to release."""


def test_solutions_score_one_and_doing_nothing_scores_zero(tmp_path: Path) -> None:
    ready = benchmark(None, TerminalOptions(limit=4))
    solved = [task.id for task in ready.tasks][::2]
    player = Player(ready.tasks, solves=solved)
    summary = asyncio.run(run_benchmark(ready, player, out=tmp_path, parallel=2, samples=1, seed=0))
    results = {result.task_id: result for result in ResultFile(tmp_path / "episodes.jsonl").results.values()}
    assert {task_id: result.score for task_id, result in results.items()} == {
        task.id: float(task.id in solved) for task in ready.tasks
    }, [(result.error, result.transcript) for result in results.values()]
    assert (summary.score, summary.interval, summary.statuses) == (0.5, "wilson", {"COMPLETED": 4})
    assert summary.metrics == {"steps": 1.5, "tokens": 3.0}
