"""What one episode on a screen is worth: the environment's own verdict, figures, and what became of it."""

from typing import Literal

from claw_envs.core.episode import Episode, Status, Turn
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from evals.benchmark import Scored
from evals.gui.experts.page import read_page

_UNSOLVED = {
    "done": "done too early",
    "fail": "gave up",
    "answer": "wrong answer",
    "limit": "not done",
    "page": "page said no",
}
"""An unsolved episode's ending, by the way in which it ended."""


async def score(episode: Episode, task: Task, *, figure: Literal["success", "score"]) -> Scored:
    """What the report says under `figure`, with figures by name and the `ending`.

    `success`: 1 where the task was solved. `reward`: the environment's. `steps`: the agent's messages. `malformed`:
    those of them that could not be read. `errors`: those with an action that could not be carried out. `prompt_tokens`,
    `response_tokens`: over all messages; left out where nobody told.

    Raises:
        InfrastructureError: if the environment gave no verdict.
    """
    report = episode.report
    if "success" not in report:
        raise InfrastructureError(f"{task.id}: the environment's report has no verdict")
    metrics = {
        "success": float(bool(report["success"])),
        "reward": episode.outcome or 0.0,
        "steps": float(len(episode.turns)),
        "malformed": float(sum(map(malformed, episode.turns))),
        "errors": float(sum(map(refused, episode.turns))),
    }
    if prompts := sum(turn.prompt_tokens for turn in episode.turns):
        metrics["prompt_tokens"] = float(prompts)
        metrics["response_tokens"] = float(sum(turn.response_tokens for turn in episode.turns))
    return Scored(float(report[figure]), metrics, ending(episode))


def malformed(turn: Turn) -> bool:
    """Whether nothing of the message could be read: then the environment itself answers."""
    return turn.observation is not None and turn.observation.role == "environment"


def refused(turn: Turn) -> bool:
    """Whether an action of the message was understood but could not be carried out."""
    return turn.observation is not None and not malformed(turn) and bool(read_page(turn.observation.text).error)


def ending(episode: Episode) -> str:
    """What became of an episode that was not aborted; the first that fits.

    - `solved`
    - `malformed only`: not one message could be read.
    - `done too early`: the agent said that it was done; the task is not.
    - `gave up`: the agent said that it cannot be done.
    - `wrong answer`
    - `page said no`: the page ended the episode.
    - `context full`: the conversation did not fit the model; the result's `error` says what makes it smaller.
    - `not done`: messages or time ran out.
    """
    if episode.report.get("success"):
        return "solved"
    if episode.turns and all(map(malformed, episode.turns)):
        return "malformed only"
    if episode.status is Status.TRUNCATED and episode.error:
        return "context full"
    return _UNSOLVED[episode.report.get("ending", "limit")]
