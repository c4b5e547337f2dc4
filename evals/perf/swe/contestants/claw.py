"""Ours: `claw/swe-v0` through `areset` and `astep`, that is with the action's parsing, the observation and the limits.

`namespace`: the repository is a layer, made from a recipe before anything is measured. `docker`: it lies in the image,
whose history each start leaves out. A verdict is the step that submits: the patch is taken, and judged in another
sandbox, which is started for it.
"""

import time
from typing import Any

import msgspec
import swebench.harness.grading  # noqa: F401  imports are no part of a verdict

from claw_envs.core.env import ClawEnv
from claw_envs.core.task import Task
from evals.perf.ours import Environment

PACKAGES = ["claw-envs", "gymnasium", "swebench"]
_TIMEOUT = 60.0


def make(kind: str, settings: dict[str, Any]) -> "Repair":
    """The contestant on the backend `kind`; `settings` has the task."""
    return Repair(msgspec.convert(settings["task"], Task), "bash", backend=kind, limit=_TIMEOUT)


class Repair(Environment):
    """Episodes that end in a verdict."""

    async def step(self, env: ClawEnv, code: str) -> str:
        """One message with one block; what it printed."""
        return (await super().step(env, code)).rpartition("\n")[0]

    async def verdict(self, env: ClawEnv) -> tuple[float, float, str]:
        """When it was asked for, when the patch was there, and the tests' log."""
        submitted = time.time()
        *_, info = await env.astep("```bash\nsubmit\n```")
        report = info.get("report")
        if not report or not report["resolved"]:
            raise RuntimeError(f"the verdict is {report or info.get('error')}")
        return submitted, submitted + info["timings"]["step"], report["log"]

    async def end(self, env: ClawEnv) -> None:
        """Close the environment, which waits until its sandboxes are gone."""
        await self.stop(env)
