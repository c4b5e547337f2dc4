"""A persistent Python interpreter in a sandbox: variables survive from call to call, the last expression is shown.

Code that runs over is interrupted, and keeps its variables; where it does not react, or breaks the interpreter, that is
replaced, and the result says that the variables are gone. Only a sandbox that is gone is an error of ours.

Not covered: what code has detached from the interpreter runs on until the sandbox stops or resets; what still runs and
prints during a later call is part of that call's output, as in a terminal.
"""

import asyncio
import signal
from typing import NamedTuple

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.base import Sandbox
from claw_envs.toolcall.interpreter.line import Line, Reply

_ANSWERS = 10.0
"""Seconds that a sandbox gets to show that it lives."""
GONE = "all variables, functions and imports are gone"


class InterpreterResult(NamedTuple):
    """What one call did."""

    text: str
    """What it printed, with the last expression or the traceback, cut to head and tail; then notes in brackets."""
    error: bool = False
    """It raised, was stopped, or broke the interpreter."""
    timed_out: bool = False
    truncated_bytes: int = 0
    """Bytes of output that are not in `text`."""
    restarted: bool = False
    """The variables of earlier calls are gone, or were before this one."""


class Interpreter:
    """See the module. Use on one event loop; calls wait for each other."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._lock = asyncio.Lock()
        self._line: Line | None = None
        self._used = self._lost = False
        """Whether there was one before; whether its variables were lost, and no result has said so."""

    async def start(self) -> None:
        """Start it afresh.

        Raises:
            InfrastructureError: if that fails.
            UserError: if the sandbox has no Python.
        """
        await self.close()
        await self._open()
        self._used, self._lost = True, False

    async def run(self, code: str, *, timeout: float) -> InterpreterResult:
        """Run `code`, any text, for `timeout` seconds at most, and some more to stop it.

        Raises:
            InfrastructureError: if the sandbox is gone, or the interpreter was closed meanwhile.
        """
        async with self._lock:
            if problem := await self._ready():
                return _broken(problem)
            line, lost = self._line, self._lost
            assert line is not None
            try:
                reply = await line.ask(code, timeout=timeout)
            except asyncio.CancelledError:
                await line.close()  # nobody knows how much of the code has run
                raise
            if self._line is not line:
                raise InfrastructureError("the interpreter was closed during a call")
            if reply is not None:
                self._lost = False
                return _result(reply._replace(fresh=reply.fresh or lost), timeout)
            hung = line.alive
            await line.close()
            what = f"did not stop after {timeout:.3g} s" if hung else "has ended"
            problem = await self._ready() or f"the interpreter {what} and was replaced: {GONE}"
            self._lost = False
            return _broken(problem, timed_out=hung)

    async def _ready(self) -> str:
        """See to it that there is one that answers; why there is none, where the agent has seen to that."""
        if self._line is not None and self._line.alive:
            return ""
        if not self._used:
            await self.start()
            return ""
        self._lost = True
        try:
            await self._open()
        except (InfrastructureError, UserError) as error:
            await self._sandbox.exec(["/bin/true"], timeout=_ANSWERS)  # raises where the sandbox is gone
            return f"the interpreter has ended and cannot be started again: {error}"
        return ""

    async def _open(self) -> None:
        try:
            self._line = await Line.open(self._sandbox)
        except InfrastructureError:
            await self._sandbox.stop_agent()  # what the agent left running may hold all that an interpreter needs
            self._line = await Line.open(self._sandbox)

    async def close(self) -> None:
        """End it and what descends from it. May be called again."""
        line, self._line = self._line, None
        if line is not None:
            await line.close()


def _broken(problem: str, *, timed_out: bool = False) -> InterpreterResult:
    return InterpreterResult(f"[{problem}]", error=True, timed_out=timed_out, restarted=True)


def _result(reply: Reply, timeout: float) -> InterpreterResult:
    marker = f"\n[... {reply.missing} bytes of output omitted ...]\n" if reply.missing else ""
    text = (reply.head + marker.encode() + reply.tail).decode("utf-8", "replace")
    note = _note(reply, timeout)
    if note:
        text += ("\n" if text and not text.endswith("\n") else "") + f"[{note}]"
    if reply.fresh:
        text = f"[the interpreter had ended since the last call: {GONE}]\n{text}"
    return InterpreterResult(
        text.rstrip("\n"),
        error=reply.kind != "ok" and (reply.kind, reply.code) != ("exit", 0),
        timed_out=reply.kind in ("interrupted", "killed"),
        truncated_bytes=reply.missing,
        restarted=reply.fresh or reply.kind in ("killed", "died"),
    )


def _note(reply: Reply, timeout: float) -> str:
    """How the code ended, where its output does not say it."""
    if reply.kind == "exit":
        return f"exit code {reply.code}; variables are kept"
    if reply.kind == "interrupted":
        return f"interrupted after {timeout:.3g} s; variables are kept"
    if reply.kind == "killed":
        return f"killed after {timeout:.3g} s, as it did not react to an interrupt: {GONE}"
    if reply.kind == "died":
        return f"the interpreter {_death(reply.code)} and was replaced: {GONE}"
    return ""


def _death(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    if -code == signal.SIGKILL:
        return "was killed, if not by the code then for its memory,"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
