"""What every sandbox backend provides. Implementations never import each other."""

import asyncio
from collections.abc import Callable
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


class Terminal(Protocol):
    """A program of the agent's with a pseudo-terminal of its own: a REPL, an editor, a server in the foreground."""

    ended: asyncio.Future[int | None]
    """Set once the program has ended: its exit code, None where it was killed with its sandbox."""

    async def write(self, data: bytes) -> None:
        """Give `data` to the program as if it was typed; nothing happens where it has ended."""
        ...

    async def close(self) -> None:
        """Kill the program with what descends from it. May be called again."""
        ...


class Pipe(Protocol):
    """A program of long life that is talked to over its standard input and output, in bytes."""

    ended: asyncio.Future[int | None]
    """Set once the program has ended: its exit code, None where it was killed with its sandbox."""

    async def write(self, data: bytes) -> None:
        """Give `data` to the program; waits while it reads nothing. Nothing happens where it has ended."""
        ...

    def errors(self) -> str:
        """What it printed to stderr since the last call, cut to head and tail."""
        ...

    async def close(self) -> None:
        """Kill the program with what descends from it. May be called again."""
        ...


class Sandbox(Protocol):
    """An isolated machine for one episode at a time. Used on one event loop."""

    spec: SandboxSpec
    workdir: str
    """The spec's working directory; from `start` on never empty, the image's own where the spec names none."""

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
            cwd: the spec's working directory where None.
            user: `agent`, or `verifier`, whose files the agent can never have written and who gets nothing of the
                spec's environment.

        Raises:
            InfrastructureError: if the sandbox is gone.
            OSError: if `argv` cannot be passed: a NUL byte in it, or too long.
        """
        ...

    async def shell(self) -> Shell:
        """A new persistent shell of the agent's."""
        ...

    async def terminal(
        self, command: str, *, sink: Callable[[bytes], None], cwd: str | None = None, rows: int = 24, columns: int = 80
    ) -> Terminal:
        """Start `bash -c command` as the agent on a pseudo-terminal of its own.

        Args:
            sink: called on the event loop with what the program prints, raw, as it comes.
            cwd: the spec's working directory where None.

        Raises:
            InfrastructureError: if the sandbox is gone.
        """
        ...

    async def pipe(
        self,
        argv: list[str],
        *,
        sink: Callable[[bytes], None],
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        user: str = "agent",
    ) -> Pipe:
        """Start a program whose standard input and output are pipes.

        Args:
            sink: called on the event loop with what the program prints to stdout, as it comes.
            env, cwd, user: as for `exec`.

        Raises:
            InfrastructureError: if the sandbox is gone.
            OSError: if `argv` cannot be passed: a NUL byte in it, or too long.
        """
        ...

    async def put(self, path: str, data: bytes, *, mode: int = 0o644, user: str = "agent") -> None:
        """Write a file inside; parent directories are made, links out of the sandbox are not followed.

        Raises:
            OSError: if the file cannot be written inside.
        """
        ...

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        """Read a file from inside; of a longer one the first `max_bytes`.

        Raises:
            FileNotFoundError: if there is none.
            OSError: if it is not a regular file.
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
