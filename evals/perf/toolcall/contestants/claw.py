"""Ours: the interpreter in a sandbox, which is what the peers' tools are, and the whole environment over it.

`namespace`, `docker`: an `Interpreter` in a sandbox of this backend; a reset is `Sandbox.reset` and a new interpreter.
`env-namespace`, `env-docker`: `claw/toolcall-v0` through `areset` and `astep`, that is with the action's parsing, the
observation and the limits. The spec is the default one, with its limits of memory, processes, cpu and disk; only more
of the output is kept, so that all of a call's output comes back.
"""

from typing import Any

from claw_envs.core.task import SandboxSpec, VerifierSpec
from claw_envs.sandbox import Sandbox, make_sandbox
from claw_envs.toolcall.interpreter.session import Interpreter
from evals.perf.ours import Environment, containers, measured

PACKAGES = ["claw-envs", "gymnasium"]
_OUTPUT_BYTES = 1_000_000


def make(kind: str, settings: dict[str, Any]) -> Any:
    """The contestant `kind`; `settings` has the time limit of a call in seconds and the containers' image."""
    over, _, backend = kind.rpartition("-")
    spec = SandboxSpec(image=settings["image"] if backend == "docker" else None, output_bytes=_OUTPUT_BYTES)
    if over == "env":
        verifier = VerifierSpec(kind="answer", options={"answer": "42", "kind": "exact"})
        task = measured("toolcall", verifier, spec)
        return Environment(task, "python", backend=backend, limit=settings["limit"])
    return Session(spec, backend, settings["limit"])


class Session:
    """Sandboxes, each with an interpreter."""

    def __init__(self, spec: SandboxSpec, backend: str, limit: float) -> None:
        self._spec, self._backend, self._limit = spec, backend, limit

    async def start(self) -> tuple[Sandbox, Interpreter]:
        """A started sandbox and its interpreter."""
        sandbox = make_sandbox(self._spec, self._backend)
        await sandbox.start()
        return sandbox, await _interpreter(sandbox)

    async def step(self, episode: tuple[Sandbox, Interpreter], code: str) -> str:
        """One call."""
        return (await episode[1].run(code, timeout=self._limit)).text

    async def reset(self, episode: tuple[Sandbox, Interpreter]) -> tuple[Sandbox, Interpreter]:
        """The sandbox as it was, and a new interpreter."""
        sandbox, interpreter = episode
        await interpreter.close()
        await sandbox.reset()
        return sandbox, await _interpreter(sandbox)

    async def stop(self, episode: tuple[Sandbox, Interpreter]) -> None:
        """Close the sandbox."""
        await episode[1].close()
        await episode[0].close()

    def containers(self) -> list[str]:
        """By their owner's label."""
        return containers() if self._backend == "docker" else []


async def _interpreter(sandbox: Sandbox) -> Interpreter:
    interpreter = Interpreter(sandbox)
    await interpreter.start()
    return interpreter
