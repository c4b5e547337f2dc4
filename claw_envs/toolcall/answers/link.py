"""One process that compares answers, and the pipes to it: a plain subprocess, which can be killed whatever it does.

None of `multiprocessing`'s, whose children import the caller's `__main__` again. Linux only.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from typing import IO, Any, NamedTuple

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.toolcall.answers.verdict import Verdict

READ_SIZE = 1 << 16


class Limits(NamedTuple):
    """What one question may cost."""

    cpu: int = 10
    """Seconds of processor time for reading the expected answer, and as many for comparing."""
    memory: int = 1 << 30
    """Bytes of address space of a worker."""
    wall: float = 600.0
    """Seconds after which a worker that says nothing, and has not used up `cpu`, is given up: the machine is stuck."""


class Gone(Exception):  # noqa: N818 - a state, not a fault
    """The worker ended in the middle of a question."""

    def __init__(self, why: str, *, conclusive: bool, gold_read: bool) -> None:
        super().__init__(why)
        self.why, self.conclusive, self.gold_read = why, conclusive, gold_read


class Worker:
    """One process and the pipes to it. Used by one thread.

    Raises:
        InfrastructureError: if it cannot be started.
        UserError: if math-verify is not installed.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._rest = b""
        self._asked = 0
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        numbers = (os.getpid(), limits.cpu, limits.memory)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "claw_envs.toolcall.answers.worker", *map(str, numbers)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": path},
            )
        except OSError as error:
            raise InfrastructureError(f"no process could be started to compare answers: {error}") from error
        assert self._process.stdin
        assert self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        _workers.add(self)
        try:
            missing = self._reply(gold_read=False)["missing"]
        except Gone as gone:
            raise InfrastructureError(f"the process that compares answers did not start: {gone.why}") from None
        if missing:
            self.close()
            raise UserError(f"{missing}: install claw-envs[toolcall], which answers of kind math need")

    def ask(self, gold: str, answer: str) -> Verdict:
        """Compare `answer` with `gold`.

        Raises:
            UserError: if `gold` cannot be read.
            InfrastructureError: if the machine is stuck.
            Gone: if the worker ended; it is of no more use.
        """
        self._asked += 1
        self._tell({"gold": gold, "answer": answer})
        unread = self._reply(gold_read=False)["unread"]
        if unread:
            raise UserError(f"the expected answer {gold[:200]!r} cannot be read: {unread}")
        return Verdict(**self._reply(gold_read=True))

    def _tell(self, question: dict[str, str]) -> None:
        data = memoryview(json.dumps(question).encode() + b"\n")
        deadline = time.monotonic() + self._limits.wall
        with contextlib.suppress(BrokenPipeError):  # its end is found when it is read from
            while data:
                self._await(self._stdin, select.POLLOUT, deadline)
                data = data[os.write(self._stdin.fileno(), data[: select.PIPE_BUF]) :]

    def _reply(self, *, gold_read: bool) -> dict[str, Any]:
        deadline = time.monotonic() + self._limits.wall
        while b"\n" not in self._rest:
            self._await(self._stdout, select.POLLIN, deadline)
            data = os.read(self._stdout.fileno(), READ_SIZE)
            if not data:
                raise self._ended(gold_read)
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        if "out_of_memory" in reply:
            self.close()
            why = f"needed more than {self._limits.memory >> 20} MB of memory"
            raise Gone(why, conclusive=self._asked == 1, gold_read=gold_read)
        return reply

    def _await(self, pipe: IO[bytes], event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(pipe, event)
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            self.close()
            raise InfrastructureError(f"no verdict on an answer within {self._limits.wall:g} s: the machine is stuck")

    def _ended(self, gold_read: bool) -> Gone:
        self.close()
        code = self._process.returncode
        if code == -signal.SIGXCPU:
            return Gone(f"ran over {self._limits.cpu} s of processor time", conclusive=True, gold_read=gold_read)
        return Gone(f"ended the process with code {code}", conclusive=False, gold_read=gold_read)

    def close(self) -> None:
        """Kill it."""
        _workers.discard(self)
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def forget(self) -> None:
        """In a forked child: drop the parent's process, and the pipes that would keep it alive."""
        self._process.returncode = 0
        self._stdin.close()
        self._stdout.close()


def forget_workers() -> None:
    """In a forked child: leave the workers to the parent."""
    for worker in list(_workers):
        worker.forget()
    _workers.clear()


_workers: "weakref.WeakSet[Worker]" = weakref.WeakSet()
