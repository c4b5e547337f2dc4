"""Which expert plays which task."""

from collections.abc import Callable

from claw_envs.core.task import Task
from evals.gui.experts.policy import PlainPolicy
from evals.gui.experts.script import ScriptedExpert


def expert_of(task: Task) -> Callable[[], PlainPolicy] | None:
    """What makes an expert for one episode of `task`; None where there is none."""
    if "solution" in task.metadata:
        return lambda: ScriptedExpert.for_task(task)
    if task.verifier.kind != "miniwob":
        return None
    from evals.gui.experts.miniwob.policy import EXPERTS, MiniwobExpert

    return (lambda: MiniwobExpert.for_task(task)) if task.metadata["page"] in EXPERTS else None
