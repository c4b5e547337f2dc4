"""What every sandbox backend provides. Implementations never import each other."""

from typing import NamedTuple, Protocol

from claw_envs.core.task import SandboxSpec


class ExecResult(NamedTuple):
    """One finished (or stopped) command."""

    output: str
    """stdout and stderr together, as valid text, cut to head and tail with a marker that counts what is missing."""
    exit_code: int | None
    """None where the command was stopped by its time-out or the shell was lost."""
    timed_out: bool = False
    truncated_bytes: int = 0
    """Bytes of output that are not in `output`."""
    cwd: str = ""
    """Working directory after the command."""


class Shell(Protocol):
    """A persistent shell: cwd, variables and functions survive between commands."""

    async def run(self, command: str, *, timeout: float) -> ExecResult:
        """Run `command` (any text, several lines too).

        A command that runs over is stopped; the shell survives, or is replaced with `output` saying so.

        Raises:
            InfrastructureError: if the sandbox itself is gone.
        """
        ...

    async def close(self) -> None:
        """End the shell and everything it started."""
        ...


class Sandbox(Protocol):
    """An isolated machine for one episode at a time."""

    spec: SandboxSpec

    async def start(self) -> None:
        """Bring it up, with the spec's files and set-up done.

        Raises:
            InfrastructureError: if it cannot be started.
            UserError: if the spec asks for something that this backend cannot do.
        """
        ...

    async def exec(
        self,
        argv: list[str],
        *,
        timeout: float,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        user: str = "agent",
        stdin: bytes = b"",
    ) -> ExecResult:
        """Run one command in a fresh process.

        Args:
            user: `agent`, or `verifier`, whose files the agent can never have written.

        Raises:
            InfrastructureError: if the sandbox is gone.
        """
        ...

    async def shell(self) -> Shell:
        """A new persistent shell of the agent's."""
        ...

    async def put(self, path: str, data: bytes, *, mode: int = 0o644, user: str = "agent") -> None:
        """Write a file inside; parent directories are made, links out of the sandbox are not followed."""
        ...

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        """Read a file from inside.

        Raises:
            FileNotFoundError: if there is none.
        """
        ...

    async def stop_agent(self) -> None:
        """Kill every process of the agent's; the file system stays for the verifier."""
        ...

    async def reset(self) -> None:
        """Back to the state just after `start`: processes gone, files as they were."""
        ...

    async def close(self) -> None:
        """Remove everything. May be called again."""
        ...
