"""Environments that turn what happens after an agent acts into rewards.

`import claw_envs` registers the families with Gymnasium: `gymnasium.make("claw/terminal-v0")`.
"""

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Episode, Observation, Status, Turn, Verdict
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.spaces import Unicode
from claw_envs.core.task import Limits, SandboxSpec, Task, VerifierSpec
from claw_envs.core.tasksets import load_tasks
from claw_envs.core.vector import ClawVectorEnv
from claw_envs.families import FAMILIES, register

__version__ = "0.1.0"

__all__ = [
    "FAMILIES",
    "ClawEnv",
    "ClawVectorEnv",
    "Episode",
    "InfrastructureError",
    "Limits",
    "Observation",
    "SandboxSpec",
    "Status",
    "Task",
    "Turn",
    "Unicode",
    "UserError",
    "Verdict",
    "VerifierSpec",
    "load_tasks",
]

register()
