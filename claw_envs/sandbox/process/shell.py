"""The persistent shell of a sandbox: a bash that is replaced when a command kills, replaces or wedges it.

Not covered: processes that detach from the shell (`setsid`, double fork) outlive it, until the sandbox stops or resets.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.process.bash import Bash
from claw_envs.sandbox.process.link import Connect
from claw_envs.sandbox.process.output import Capture

REPLACED = "[the shell has ended and was replaced: working directory, variables and jobs are those of a new one]"


class BashShell:
    """A `Shell` on top of any way to reach a bash.

    Args:
        connect: starts bash inside.
        output_bytes: kept of one command's output.
        recover: called when no bash can be started, to free what the agent holds; raises `InfrastructureError` where
            the sandbox is gone.
    """

    def __init__(self, connect: Connect, *, output_bytes: int, recover: Callable[[], Awaitable[None]]) -> None:
        self._connect = connect
        self._capture = Capture(output_bytes)
        self._recover = recover
        self._lock = asyncio.Lock()
        self._bash: Bash | None = None
        self._closed = False

    async def start(self) -> None:
        """Start the first bash.

        Raises:
            InfrastructureError: if none can be started.
        """
        try:
            self._bash = await Bash.start(self._connect, capture=self._capture)
        except InfrastructureError:
            await self._recover()
            self._bash = await Bash.start(self._connect, capture=self._capture)

    async def run(self, command: str, *, timeout: float) -> ExecResult:
        """See `Shell.run`."""
        async with self._lock:
            if self._closed:
                raise InfrastructureError("the shell is closed")
            if "\0" in command:
                return ExecResult("bash: a command cannot hold a NUL byte", 2)
            note = ""
            if self._bash is None or self._bash.gone.done():
                await self._replace()
                note = REPLACED + "\n"
            try:
                result = await self._run(command, timeout)
            except asyncio.CancelledError:
                await self._drop()
                raise
            return result._replace(output=note + result.output) if note else result

    async def _run(self, command: str, timeout: float) -> ExecResult:
        bash = self._bash
        assert bash is not None
        report = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await bash.begin(command)
                report = await bash.wait(None)
        timed_out = report is None and not bash.gone.done()
        if timed_out:
            report = await bash.interrupt()
        notes = [f"[stopped: the command ran longer than {timeout:g} s]"] if timed_out else []
        exit_code = None
        if report is None:
            await self._replace()
            exit_code = None if timed_out else bash.exit_code
            notes.append(REPLACED)
        elif not timed_out:
            exit_code = report[0]
        output, missing = self._capture.take()
        separator = "\n" if notes and output and not output.endswith("\n") else ""
        return ExecResult(
            output + separator + "\n".join(notes), exit_code, timed_out, missing, report[1] if report else ""
        )

    async def _replace(self) -> None:
        await self._drop()
        await self.start()

    async def _drop(self) -> None:
        if self._bash is not None:
            bash, self._bash = self._bash, None
            await bash.stop()

    async def close(self) -> None:
        """See `Shell.close`."""
        self._closed = True
        await self._drop()
