"""One bash process: lines go in, output comes out, reports say how each command ended (see `link` for the way there).

bash is interactive without a controlling terminal, because such a bash survives an interrupt with its state. Each
command is one quoted argument of `eval`, so that any text works; its stdin is /dev/null, and it does not inherit the
channel of the reports. A report (a token that changes with every command, exit code, working directory) is written once
the command has ended: what the command wrote before then is already on its way.

Not covered: a command that forges reports by searching bash's own saved descriptors misleads only its own exit code.
"""

import asyncio
import secrets
import shlex
import signal
import time

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.process.child import first_of
from claw_envs.sandbox.process.link import Connect, Link
from claw_envs.sandbox.process.output import Capture

ARGV = ["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"]
_OUT, _CONTROL = 200, 201
_MEANS = (*[signal.SIGINT] * 4, signal.SIGKILL)
"""What a command that is to stop is sent, one after the other: bash lets an interrupt pass that meets no running child,
as between two turns of a loop, so one may not be enough."""
_GRACE = 0.25
"""Seconds that it gets to end before the next."""
_READY_TIMEOUT = 20.0
_SETUP = (
    "exec {out}>&1 {control}>&{link} >/dev/null 2>&1; set +o history +o histexpand; unset HISTFILE PROMPT_COMMAND; "
    "PS1= PS2=\n"
)


class Bash:
    """A running bash. Use `Bash.start`."""

    def __init__(self, capture: Capture) -> None:
        self._link: Link
        self._capture = capture
        self._reports = bytearray()
        self._token = b""
        self._report: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        self._last_code = 0
        self._begun = 0.0

    @classmethod
    async def start(cls, connect: Connect, *, capture: Capture) -> "Bash":
        """Start bash and wait until it answers.

        Raises:
            InfrastructureError: if it does not.
        """
        bash = cls(capture)
        bash._link = await connect(ARGV, capture.feed, bash._feed)
        try:
            await bash._send(_SETUP.format(out=_OUT, control=_CONTROL, link=bash._link.control))
            if await bash.wait(_READY_TIMEOUT) is None:
                said = bytes(bash._reports).decode(errors="replace").strip()
                raise InfrastructureError(f"no shell could be started: {said or 'no answer'}")
        except BaseException:
            await bash.stop()
            raise
        return bash

    @property
    def gone(self) -> asyncio.Future[None]:
        """Set once bash no longer answers: it ended, or replaced itself by another program."""
        return self._link.gone

    @property
    def exit_code(self) -> int | None:
        """Exit code of a bash that ended by itself and was then stopped; None where it was killed."""
        return self._link.exit_code

    async def begin(self, command: str) -> None:
        """Hand over a command; `wait` tells how it ended."""
        self._begun = time.clock_gettime(time.CLOCK_BOOTTIME)
        restore = f"(exit {self._last_code})\n" if self._last_code else ""
        redirects = f"</dev/null >&{_OUT} 2>&{_OUT} {_OUT}>&- {_CONTROL}>&-"
        await self._send(f"{restore}builtin eval {shlex.quote(command)} {redirects}\n")

    async def _send(self, text: str) -> None:
        self._token = secrets.token_hex(8).encode()
        self._reports.clear()
        self._report = asyncio.get_running_loop().create_future()
        report = f"'{self._link.mark}%s %s %s\\0' {self._token.decode()} $? \"$PWD\" >&{_CONTROL}\n"
        await self._link.write(f"{text}builtin printf {report}".encode("utf-8", "surrogatepass"))

    async def wait(self, timeout: float | None) -> tuple[int, str] | None:
        """Exit code and working directory; None where the time is over or bash is gone."""
        await first_of(self._report, self.gone, timeout=timeout)
        self._link.settle()
        if not self._report.done():
            return None
        self._last_code = self._report.result()[0]
        return self._report.result()

    async def interrupt(self) -> tuple[int, str] | None:
        """Stop the command: first as Ctrl-C does, then by killing what it started."""
        for means in _MEANS:
            await self._link.interrupt(means, since=self._begun)
            report = await self.wait(_GRACE)
            if report is not None or self.gone.done():
                return report
        return None

    async def stop(self) -> None:
        """Kill it with what descends from it."""
        await self._link.close()

    def _feed(self, data: bytes) -> None:
        self._reports += data
        *complete, rest = bytes(self._reports).split(b"\0")
        for message in complete:
            token, _, tail = message.rpartition(self._token + b" ")
            code, _, cwd = tail.partition(b" ")
            if (token or self._token) and code.isdigit() and not self._report.done():
                self._report.set_result((int(code), cwd.decode("utf-8", "replace")))
        self._reports = bytearray(rest[-4096:])
