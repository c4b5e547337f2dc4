"""Ours: a sandbox with its persistent shell, which is what the peers' runtimes are, and the whole environment over it.

`namespace`, `docker`: `make_sandbox(spec, backend)`; a reset is `Sandbox.reset` and a new shell. `pool-namespace`,
`pool-docker`: leased from a `SandboxPool` that is empty at first; a reset is to give one back and to lease the next,
which waits where the pool is still resetting it. `env-namespace`, `env-docker`: `claw/terminal-v0` through `areset` and
`astep`, that is with the action's parsing, the observation and the limits. The spec is the default one, with its limits
of memory, processes, cpu and disk; only more of the output is kept, so that all of a step's output comes back.
"""

import os
import subprocess
from typing import Any

import gymnasium as gym

import claw_envs  # noqa: F401  registers the environments
from claw_envs.core.env import ClawEnv
from claw_envs.core.task import Limits, SandboxSpec, Task, VerifierSpec
from claw_envs.sandbox import Sandbox, Shell, make_sandbox
from claw_envs.sandbox.pool import SandboxPool

PACKAGES = ["claw-envs", "gymnasium"]
_OUTPUT_BYTES = 2_000_000
_TIMEOUT = 60.0


def make(kind: str, settings: dict[str, Any]) -> Any:
    """The contestant `kind`; `settings["image"]` is the containers' image."""
    over, _, backend = kind.rpartition("-")
    spec = SandboxSpec(image=settings["image"] if backend == "docker" else None, output_bytes=_OUTPUT_BYTES)
    return {"": Machine, "pool": Pooled, "env": Environment}[over](spec, backend)


class Machine:
    """Sandboxes, each with a shell."""

    def __init__(self, spec: SandboxSpec, backend: str) -> None:
        self._spec = spec
        self._backend = backend

    async def start(self) -> tuple[Sandbox, Shell]:
        """A started sandbox and its shell."""
        sandbox = make_sandbox(self._spec, self._backend)
        await sandbox.start()
        return sandbox, await sandbox.shell()

    async def step(self, episode: tuple[Sandbox, Shell], command: str) -> str:
        """One command in the shell."""
        result = await episode[1].run(command, timeout=_TIMEOUT)
        return result.output

    async def reset(self, episode: tuple[Sandbox, Shell]) -> tuple[Sandbox, Shell]:
        """The sandbox as it was, and a new shell."""
        await episode[0].reset()
        return episode[0], await episode[0].shell()

    async def stop(self, episode: tuple[Sandbox, Shell]) -> None:
        """Close the sandbox."""
        await episode[0].close()

    def containers(self) -> list[str]:
        """By their owner's label."""
        return _containers() if self._backend == "docker" else []


class Pooled:
    """Sandboxes of one pool, each with a shell."""

    def __init__(self, spec: SandboxSpec, backend: str) -> None:
        self._spec = spec
        self._backend = backend
        self._pool = SandboxPool()

    async def start(self) -> tuple[Sandbox, Shell]:
        """A leased sandbox and its shell."""
        sandbox = await self._pool.lease(self._spec, self._backend)
        return sandbox, await self._pool.shell(sandbox)

    async def step(self, episode: tuple[Sandbox, Shell], command: str) -> str:
        """One command in the shell."""
        result = await episode[1].run(command, timeout=_TIMEOUT)
        return result.output

    async def reset(self, episode: tuple[Sandbox, Shell]) -> tuple[Sandbox, Shell]:
        """The next sandbox."""
        await self.stop(episode)
        return await self.start()

    async def stop(self, episode: tuple[Sandbox, Shell]) -> None:
        """Give it back."""
        await self._pool.give_back(episode[0])

    def containers(self) -> list[str]:
        """By their owner's label, parked ones too."""
        return _containers() if self._backend == "docker" else []

    async def close(self) -> None:
        """Close the pool."""
        await self._pool.close()


class Environment:
    """Episodes of `claw/terminal-v0`."""

    def __init__(self, spec: SandboxSpec, backend: str) -> None:
        self._backend = backend
        self._task = Task(
            id="perf",
            family="terminal",
            instruction="Measure.",
            verifier=VerifierSpec(kind="harbor"),
            limits=Limits(max_steps=1 << 30, step_timeout=_TIMEOUT, episode_timeout=1e9),
            sandbox=spec,
        )

    async def start(self) -> ClawEnv:
        """A new environment after its first reset."""
        env = gym.make("claw/terminal-v0", tasks=[self._task], backend=self._backend).unwrapped
        assert isinstance(env, ClawEnv)
        return await self.reset(env)

    async def step(self, env: ClawEnv, command: str) -> str:
        """One message of the agent's with one bash block."""
        await env.astep(f"```bash\n{command}\n```")
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
        return _containers() if self._backend == "docker" else []


def _containers() -> list[str]:
    form = '{{.ID}} {{.Label "claw-envs.owner"}}'
    command = ["docker", "ps", "--no-trunc", "--filter", "label=claw-envs.owner", "--format", form]
    rows = [
        line.split()
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
        if line
    ]
    return [name for name, owner in rows if f":{os.getpid()}-" in owner]
