"""The proof of GUI tasks for `claw tasks validate`: an agent that follows the solution, one that does nothing.

Each episode has a screen of its own. What a solution says is the business of `evals.gui.experts.grammar`.
"""

from collections.abc import Sequence

import gymnasium as gym
from msgspec.structs import replace

from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.soundness import Report, prove
from evals.gui.experts.play import Part, play
from evals.gui.experts.script import ScriptedExpert


async def validate(tasks: Sequence[Task], backend: str, *, parallel: int) -> list[Report]:
    """Prove every task; one report a task, in order.

    Args:
        tasks: of any kind, with a `solution` in their metadata.
        backend: of a desktop's sandbox.
        parallel: tasks in work at a time.

    Raises:
        UserError: see `claw_envs.soundness.prove`; and if there is no browser where one is needed.
    """

    async def check(task: Task) -> Report:
        return await _check(task, backend)

    return await prove(tasks, check, backend, parallel=parallel)


async def _check(task: Task, backend: str) -> Report:
    env = gym.make("claw/gui-v0", tasks=[task], observe=("axtree",), sandbox=backend).unwrapped
    assert isinstance(env, ClawEnv)
    place = backend if task.verifier.kind == "osworld" else "browser"
    report = Report(task_id=task.id, format=task.verifier.kind, backend=place)
    try:
        oracle = await play(env, Part(task, 0, "solution"), lambda task, seed: ScriptedExpert.for_task(task))
        noop = await play(env, Part(task, 0, "nothing"), lambda task, seed: ScriptedExpert(["done"]))
    except (InfrastructureError, UserError) as error:
        return replace(report, error=str(error))
    finally:
        await env.aclose()
    return replace(
        report,
        oracle=float(oracle.solved),
        noop=float(noop.solved),
        seconds=oracle.seconds + noop.seconds,
        error=oracle.why or None,
    )
