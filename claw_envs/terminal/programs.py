"""The programs that an agent keeps running on terminals of their own, and what it is shown of them.

Each has a number, which is never used again. What is typed is answered with the screen as it is once the program has
been quiet for a moment: its output, its end and the clock are waited for, nothing is polled. A program that has ended
is shown once more and then forgotten. What a program prints after a longer pause is not covered: the agent looks again.
"""

import asyncio
import contextlib
from typing import TYPE_CHECKING

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.results import Result, not_run
from claw_envs.sandbox.base import Sandbox, Terminal
from claw_envs.sandbox.process.child import first_of

if TYPE_CHECKING:
    from claw_envs.terminal.screen import Picture, Screen

MOST = 8
"""Programs that may run at a time."""
ROWS, COLUMNS = 24, 80
_QUIET, _QUIET_AT_START = 0.1, 0.3
"""Seconds without output after which a program that has spoken is taken to wait for input."""
_REACTION = 0.5
"""Seconds that a program gets for its first word after a start or an input."""
_LONGEST = 5.0
"""Seconds after which a program that is never quiet is shown all the same."""
_QUESTIONS = 4
"""Times that a program may ask its terminal something before it is shown."""


class _Program:
    def __init__(self, number: int, screen: "Screen") -> None:
        self.number = number
        self.screen = screen
        self.terminal: Terminal
        self._heard: asyncio.Future[None] | None = None

    def feed(self, data: bytes) -> None:
        self.screen.feed(data)
        if self._heard is not None and not self._heard.done():
            self._heard.set_result(None)

    async def settle(self, patience: float, quiet: float, limit: float) -> bool:
        """Wait for its first output, `patience` at most, then until it is `quiet`, or has ended, or `limit` is over.

        What it asks its terminal is answered. Returns whether it has ended, with all that it printed interpreted.
        """
        end = asyncio.get_running_loop().time() + limit
        for _ in range(_QUESTIONS):
            await self._fall_quiet(patience, quiet, end)
            ended = self.terminal.ended.done()
            await self.screen.interpret()
            replies = self.screen.take_replies()
            if ended or not replies:
                break
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_QUIET):
                    await self.terminal.write(replies)
            patience = quiet
        return ended

    async def _fall_quiet(self, patience: float, quiet: float, end: float) -> None:
        loop = asyncio.get_running_loop()
        if self.screen.fresh:
            patience = quiet
        while not self.terminal.ended.done() and (left := end - loop.time()) > 0:
            self._heard = loop.create_future()
            await first_of(self._heard, self.terminal.ended, timeout=min(patience, left))
            if not self._heard.done():
                return
            patience = quiet


class Programs:
    """The programs of one episode.

    Args:
        sandbox: where they run.

    Every method takes the seconds that it may use, and raises `InfrastructureError` where the sandbox is gone.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._programs: dict[int, _Program] = {}
        self._started = 0

    async def start(self, command: str, *, cwd: str, limit: float) -> Result:
        """Start `bash -c command`."""
        from claw_envs.terminal.screen import Screen  # pyte, for who uses it

        running = [number for number, program in self._programs.items() if not program.terminal.ended.done()]
        if len(running) >= MOST:
            return not_run(f"{MOST} processes are running ({_listed(running)}), the most there may be: stop one first.")
        screen = Screen(rows=ROWS, columns=COLUMNS, limit=self._sandbox.spec.output_bytes)
        program = _Program(self._started + 1, screen)
        try:
            program.terminal = await self._sandbox.terminal(
                command, sink=program.feed, cwd=cwd, rows=ROWS, columns=COLUMNS
            )
        except OSError as error:
            return not_run(f"The command cannot be started: {error}. Write a long one to a file, and start that.")
        self._started += 1
        self._programs[program.number] = program
        return await self._shown(program, _REACTION, limit=min(limit, _LONGEST), quiet=_QUIET_AT_START)

    async def view(self, number: int, *, wait: float | None, limit: float) -> Result:
        """Show a program, where asked after `wait` seconds at most for something new."""
        program = self._programs.get(number)
        if program is None:
            return self._unknown(number)
        return await self._shown(program, wait or 0.0, limit=min(wait or 0.0, limit))

    async def type(self, number: int, data: bytes, *, limit: float) -> Result:
        """Give `data` to a program, as if it was typed."""
        program = self._programs.get(number)
        if program is None:
            return self._unknown(number)
        note = "nothing was sent" if program.terminal.ended.done() else ""
        try:
            async with asyncio.timeout(min(limit, _LONGEST)):
                await program.terminal.write(data)
        except TimeoutError:
            note = "not everything was sent: it does not read its input"
        return await self._shown(program, _REACTION, limit=min(limit, _LONGEST), note=note)

    async def stop(self, number: int) -> Result:
        """Kill a program with what descends from it."""
        program = self._programs.pop(number, None)
        if program is None:
            return self._unknown(number)
        await program.terminal.close()
        await program.screen.interpret()
        picture = program.screen.picture()
        return Result(_head(f"process {number} stopped", picture, ""), picture.text)

    async def close(self) -> None:
        """Kill them all."""
        programs, self._programs = self._programs, {}
        await asyncio.gather(*(program.terminal.close() for program in programs.values()))

    async def _shown(
        self, program: _Program, patience: float, *, limit: float, quiet: float = _QUIET, note: str = ""
    ) -> Result:
        ended = await program.settle(patience, quiet, limit)
        picture = program.screen.picture()
        if not ended:
            state = f"process {program.number} running | {ROWS}x{COLUMNS} | cursor {picture.row},{picture.column}"
            return Result(_head(state, picture, note), picture.text)
        code = program.terminal.ended.result()
        if code is None:
            raise InfrastructureError("the sandbox has died")
        del self._programs[program.number]
        await program.terminal.close()
        return Result(_head(f"process {program.number} ended, exit {code}", picture, note), picture.text, code)

    def _unknown(self, number: int) -> Result:
        if number <= self._started:
            gone = f"Process {number} has ended, or was stopped"
        else:
            gone = f"There is no process {number}"
        there = f"there are {_listed(list(self._programs))}" if self._programs else "none is running; start one first"
        return not_run(f"{gone}; {there}.")


def _head(state: str, picture: "Picture", note: str) -> str:
    parts = [state]
    if picture.scrolled:
        parts.append(f"{picture.scrolled} lines scrolled by")
    if picture.missing:
        parts.append(f"{picture.missing} bytes cut")
    return " | ".join([*parts, *([note] if note else [])])


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
