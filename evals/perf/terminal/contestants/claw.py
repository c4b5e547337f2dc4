"""Ours: a sandbox with its persistent shell, which is what the peers' runtimes are, and the whole environment over it.

`namespace`, `docker`: `make_sandbox(spec, backend)`; a reset is `Sandbox.reset` and a new shell. `pool-namespace`,
`pool-docker`: leased from a `SandboxPool` that is empty at first; a reset is to give one back and to lease the next,
which waits where the pool is still resetting it. `env-namespace`, `env-docker`: `claw/terminal-v0` through `areset` and
`astep`, that is with the action's parsing, the observation and the limits. The spec is the default one, with its limits
of memory, processes, cpu and disk; only more of the output is kept, so that all of a step's output comes back.
"""

from typing import Any

from claw_envs.core.task import SandboxSpec, VerifierSpec
from claw_envs.sandbox import Sandbox, Shell, make_sandbox
from claw_envs.sandbox.pool import SandboxPool
from evals.perf.ours import Environment, containers, measured

PACKAGES = ["claw-envs", "gymnasium"]
_OUTPUT_BYTES = 2_000_000
_TIMEOUT = 60.0


def make(kind: str, settings: dict[str, Any]) -> Any:
    """The contestant `kind`; `settings["image"]` is the containers' image."""
    over, _, backend = kind.rpartition("-")
    spec = SandboxSpec(image=settings["image"] if backend == "docker" else None, output_bytes=_OUTPUT_BYTES)
    if over == "env":
        task = measured("terminal", VerifierSpec(kind="harbor"), spec)
        return Environment(task, "bash", backend=backend, limit=_TIMEOUT)
    return {"": Machine, "pool": Pooled}[over](spec, backend)


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
        return containers() if self._backend == "docker" else []


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
        return containers() if self._backend == "docker" else []

    async def close(self) -> None:
        """Close the pool."""
        await self._pool.close()
