"""What one SWE episode is worth: the environment's own verdict, figures, and what became of it in two words."""

from collections.abc import Sequence

from claw_envs.core.episode import Episode, Status, Turn
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from evals.benchmark import Scored
from evals.results import EpisodeResult

_PATCH_FAULTS = {
    "empty_patch": "empty patch",
    "patch_failed": "patch failed",
    "patch_too_big": "patch failed",
    "no_patch": "patch failed",
}


async def score(episode: Episode, task: Task) -> Scored:
    """1 where the issue is resolved, else 0, with figures by name and the `ending`.

    `steps`: the agent's messages. `malformed`: those of them of which nothing could be carried out. `patch_bytes`: of
    the patch, in UTF-8. `fail_to_pass`, `pass_to_pass`: share of these tests that passed; left out where none ran.
    `submitted`: 1 unless a limit ended the episode. `flaky`: 1 where tests did not come out the same again.
    `prompt_tokens`, `response_tokens`: over all messages; left out where nobody told.

    Raises:
        InfrastructureError: if the environment gave no verdict.
    """
    report = episode.report
    if "resolved" not in report:
        raise InfrastructureError(f"{task.id}: the environment's report has no verdict")
    metrics = {
        "steps": float(len(episode.turns)),
        "malformed": float(sum(map(malformed, episode.turns))),
        "submitted": float(episode.status is Status.COMPLETED),
        "patch_bytes": float(len((report.get("patch") or "").encode(errors="surrogateescape"))),
        "flaky": float(bool(report.get("flaky"))),
    }
    for name in ("fail_to_pass", "pass_to_pass"):
        if tests := report.get(name):
            passed, failed = len(tests["success"]), len(tests["failure"])
            metrics |= {name: passed / (passed + failed)} if passed + failed else {}
    if prompts := sum(turn.prompt_tokens for turn in episode.turns):
        metrics["prompt_tokens"] = float(prompts)
        metrics["response_tokens"] = float(sum(turn.response_tokens for turn in episode.turns))
    return Scored(float(bool(report["resolved"])), metrics, ending(episode))


def malformed(turn: Turn) -> bool:
    """Whether nothing of the message could be carried out: then the environment itself answers."""
    return turn.observation is not None and turn.observation.role == "environment"


def ending(episode: Episode) -> str:
    """What became of an episode that was not aborted; the first that fits.

    - `resolved`
    - `malformed only`: not one message could be read.
    - `repository lost`: the agent destroyed it, or its git folder.
    - `not submitted`: messages, time or context ran out, and what was there by then does not resolve the issue.
    - `empty patch`, `patch failed` (it does not apply, is too big, or could not be taken)
    - `no test result`: with the patch, the tests run over, or end before there is a result.
    - `wrong fix`: of the tests that a right patch makes pass, some still fail.
    - `broke tests`: only tests fail that passed before.
    """
    report = episode.report
    if report.get("resolved"):
        return "resolved"
    if episode.turns and all(map(malformed, episode.turns)):
        return "malformed only"
    if report["status"] == "repository_gone":
        return "repository lost"
    if episode.status is Status.TRUNCATED:
        return "not submitted"
    if report["status"] in _PATCH_FAULTS:
        return _PATCH_FAULTS[report["status"]]
    if report["fail_to_pass"]["failure"]:
        return "wrong fix"
    return "broke tests" if report["pass_to_pass"]["failure"] else "no test result"


def cost(result: EpisodeResult, *, price_in: float | None, price_out: float | None) -> dict[str, float]:
    """`cost` of an episode in USD; empty where its tokens were not counted or there are no prices.

    Args:
        price_in, price_out: USD for a million tokens of prompts and of responses.
    """
    if "prompt_tokens" not in result.metrics or price_in is None or price_out is None:
        return {}
    spent = result.metrics["prompt_tokens"] * price_in + result.metrics["response_tokens"] * price_out
    return {"cost": spent / 1e6}


def total_cost(results: Sequence[EpisodeResult]) -> dict[str, float]:
    """`total_cost` in USD of the episodes whose cost is known; empty where there are none."""
    costs = [result.metrics["cost"] for result in results if "cost" in result.metrics]
    return {"total_cost": sum(costs)} if costs else {}
