"""What our contestants share: episodes of an environment, and the containers that they keep."""

import os
import subprocess

import gymnasium as gym
import msgspec

import claw_envs  # noqa: F401  registers the environments
from claw_envs.core.env import ClawEnv
from claw_envs.core.task import Limits, SandboxSpec, Task, VerifierSpec


def measured(family: str, verifier: VerifierSpec, spec: SandboxSpec) -> Task:
    """A task of `family` in a sandbox of `spec`, with nothing to do in it.

    Args:
        verifier: never asked.
    """
    return Task(id="perf", family=family, instruction="Measure.", verifier=verifier, sandbox=spec)


class Environment:
    """Episodes of an environment through `areset` and `astep`, with parsing, observations and limits.

    Args:
        task: of every episode; its family names the environment too.
        language: of the blocks of code that its actions are.
        limit: seconds that a step may take.
    """

    def __init__(self, task: Task, language: str, *, backend: str, limit: float) -> None:
        self._language, self._backend = language, backend
        limits = Limits(max_steps=1 << 30, step_timeout=limit, episode_timeout=1e9)
        self._task = msgspec.structs.replace(task, limits=limits)

    async def start(self) -> ClawEnv:
        """A new environment after its first reset."""
        env = gym.make(f"claw/{self._task.family}-v0", tasks=[self._task], backend=self._backend).unwrapped
        assert isinstance(env, ClawEnv)
        return await self.reset(env)

    async def step(self, env: ClawEnv, code: str) -> str:
        """One message of the agent's with one block."""
        await env.astep(f"```{self._language}\n{code}\n```")
        return env.last_observation.text.partition("\n")[2]

    async def reset(self, env: ClawEnv) -> ClawEnv:
        """The next episode."""
        await env.areset(seed=0)
        return env

    async def stop(self, env: ClawEnv) -> None:
        """Close the environment."""
        await env.aclose()

    def containers(self) -> list[str]:
        """By their owner's label."""
        return containers() if self._backend == "docker" else []


def containers() -> list[str]:
    """Full ids of the containers that this process keeps for its sandboxes, parked ones too."""
    form = '{{.ID}} {{.Label "claw-envs.owner"}}'
    command = ["docker", "ps", "--no-trunc", "--filter", "label=claw-envs.owner", "--format", form]
    rows = [
        line.split()
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
        if line
    ]
    return [name for name, owner in rows if f":{os.getpid()}-" in owner]
