"""What one tool-call episode is worth: the environment's own verdict, and figures on how the tools were used."""

from claw_envs.core.episode import Episode, Status
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from evals.benchmark import Scored


async def score(episode: Episode, task: Task) -> Scored:
    """1 where the environment found the answer correct, else 0, with figures by name.

    `steps`: the agent's messages. `calls`: tool calls that were carried out. `called`: 1 where there was one.
    `valid_calls`: share of the messages that neither answer nor end a turn of whose calls one was carried out; left
    out where there is no such message. `truncated`: 1 where a limit ended the episode. `tokens`: sampled; left out
    where the policy does not tell.

    Raises:
        InfrastructureError: if the environment gave no verdict.
    """
    if "correct" not in episode.report:
        raise InfrastructureError(f"{task.id}: the environment's report has no verdict")
    truncated = episode.status is Status.TRUNCATED
    before_the_end = episode.turns if truncated else episode.turns[:-1]
    answered = [turn.observation for turn in before_the_end if turn.observation and turn.observation.role != "user"]
    ran = sum(observation.exit_code is not None for observation in answered)
    calls = float(episode.report.get("calls", ran))
    metrics = {
        "steps": float(len(episode.turns)),
        "calls": calls,
        "called": float(calls > 0),
        "truncated": float(truncated),
    }
    if answered:
        metrics["valid_calls"] = ran / len(answered)
    if tokens := sum(len(turn.response_ids) for turn in episode.turns):
        metrics["tokens"] = float(tokens)
    return Scored(float(bool(episode.report["correct"])), metrics)
