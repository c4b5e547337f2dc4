"""The floor: what the same code costs without isolation, time limit, traceback or limit of output.

`exec`: compiled and executed in this very process, what it prints captured: bare execution. `pipe`: a Python child with
the smallest loop that reads code from a pipe and writes output to another. `subprocess`: a new `python -c` for each
call, killed at the time limit, and nothing between calls.
"""

import contextlib
import io
import os
import subprocess
import sys
from typing import Any

PACKAGES: list[str] = []
_LOOP = """
import contextlib, io, sys
names = {"__name__": "__main__"}
while size := sys.stdin.buffer.readline():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(sys.stdin.buffer.read(int(size)), names)
    data = printed.getvalue().encode()
    sys.stdout.buffer.write(b"%d\\n" % len(data) + data)
    sys.stdout.buffer.flush()
"""


def make(kind: str, settings: dict[str, Any]) -> Any:
    """The contestant `kind`; `settings["limit"]` is the time limit of a call in seconds."""
    return {"exec": Exec, "pipe": Pipe, "subprocess": Subprocess}[kind](settings["limit"])


class Exec:
    """An episode is a dictionary of names."""

    limited = False

    def __init__(self, limit: float) -> None:
        pass

    async def start(self) -> dict[str, Any]:
        """No names."""
        return {"__name__": "__main__"}

    async def step(self, names: dict[str, Any], code: str) -> str:
        """Execute it; nothing else runs meanwhile."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<call>", "exec"), names)
        return printed.getvalue()

    async def reset(self, names: dict[str, Any]) -> dict[str, Any]:
        """Other names."""
        return await self.start()

    async def stop(self, names: dict[str, Any]) -> None:
        """Nothing to stop."""

    def containers(self) -> list[str]:
        """None."""
        return []


class Pipe:
    """An episode is a Python child."""

    limited = False

    def __init__(self, limit: float) -> None:
        pass

    def start(self) -> "subprocess.Popen[bytes]":
        """A child that has answered once."""
        command = [sys.executable, "-c", _LOOP]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.step(child, "")
        return child

    def step(self, child: "subprocess.Popen[bytes]", code: str) -> str:
        """Write the code, read what it printed."""
        assert child.stdin is not None
        assert child.stdout is not None
        data = code.encode()
        os.write(child.stdin.fileno(), b"%d\n" % len(data) + data)
        return child.stdout.read(int(child.stdout.readline())).decode()

    def reset(self, child: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes]":
        """Another child."""
        self.stop(child)
        return self.start()

    def stop(self, child: "subprocess.Popen[bytes]") -> None:
        """Kill it."""
        child.kill()
        child.communicate()

    def containers(self) -> list[str]:
        """None."""
        return []


class Subprocess:
    """An episode is nothing at all."""

    def __init__(self, limit: float) -> None:
        self._limit = limit

    def start(self) -> None:
        """Nothing to start."""

    def step(self, episode: None, code: str) -> str:
        """A new Python."""
        command = [sys.executable, "-c", code]
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=self._limit, check=False
            )
        except subprocess.TimeoutExpired:
            return "stopped"
        return done.stdout.decode()

    def reset(self, episode: None) -> None:
        """Nothing to reset."""

    def stop(self, episode: None) -> None:
        """Nothing to stop."""

    def containers(self) -> list[str]:
        """None."""
        return []
