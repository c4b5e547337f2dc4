"""Keeps one `worker` in the sandbox: hands it code, bounds its output and its time, replaces it when it dies.

It talks to the host over its terminal, made raw. A request is a line `TOKEN SECONDS LENGTH`, then the code in UTF-8.
The answer is a zero byte, a line `TOKEN KIND CODE FRESH MISSING HEAD TAIL`, then HEAD and TAIL bytes: the beginning and
the end of the output, of which MISSING bytes between them are left out. KIND is `ready` (once, at the start), `ok`,
`error`, `exit`, `interrupted`, `killed` (it did not react to interrupts) or `died` (CODE: exit code, or minus a
signal); FRESH is 1 where the variables of earlier requests had been lost before this one.

It comes into the sandbox as source, so it knows Python 3.8 and the standard library only.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
import tty
import types

KINDS = (b"ready", b"ok", b"error", b"exit")
"""What a worker says of itself."""
READ_SIZE = 1 << 16
MOST_INTERRUPTS = 4
GRACE = 0.25
"""Seconds that code gets to end after an interrupt."""
LATE = 1 << 20
"""Bytes that are read at most after the code has ended: something it left running may print without end."""


class Capture:
    """The first and the last `limit // 2` bytes of what is fed."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self.head, self.tail, self.missing = bytearray(), bytearray(), 0

    def feed(self, data: bytes) -> None:
        room = self._half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        if len(self.tail) > 4 * self._half:
            self.trim()

    def trim(self) -> None:
        surplus = max(0, len(self.tail) - self._half)
        del self.tail[:surplus]
        self.missing += surplus


class Child:
    """A worker, and the pipes to it. The far ends of what it writes stay open here, so that none ever ends."""

    def __init__(self, source: types.CodeType, memory: int, settings: dict[str, str]) -> None:
        far_requests, self.requests = os.pipe()
        self.reports, self._far_reports = os.pipe()
        self.output, self._far_output = os.pipe()
        far_lifeline, self._lifeline = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for fd in (self.requests, self.reports, self.output, self._lifeline):
                    os.close(fd)
                module = types.ModuleType("worker")
                exec(source, module.__dict__)
                module.limit(far_lifeline, memory, settings)
                module.Worker(far_requests, self._far_reports, self._far_output).serve()
            finally:
                os._exit(1)
        os.close(far_requests)
        os.close(far_lifeline)
        for fd in (self.requests, self.reports, self.output):
            os.set_blocking(fd, False)

    @property
    def dead(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def end(self) -> int:
        """Kill it with its process group, if that still lives; its exit code, or minus the signal that ended it."""
        with contextlib.suppress(OSError):  # it may not have come as far as to lead a group
            os.killpg(self.pid, signal.SIGKILL)
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        for fd in (self.requests, self.reports, self._far_reports, self.output, self._far_output, self._lifeline):
            os.close(fd)
        return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)


class Driver:
    """See the module.

    Args:
        source: the worker.
        limit: bytes of output that are kept.
        memory: bytes that the worker may have.
        settings: environment variables for it, where they are not set.
    """

    def __init__(self, source: str, *, limit: int, memory: int, settings: dict[str, str]) -> None:
        self._source = compile(source, "<worker>", "exec", dont_inherit=True)
        self._limit, self._memory, self._settings = limit, memory, settings
        self._wake, far_wake = os.pipe()
        for fd in (self._wake, far_wake):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(far_wake, warn_on_full_buffer=False)
        self._asked, self._reported, self._pending = bytearray(), bytearray(), b""
        self._number = 0
        self._capture = Capture(limit)
        self._start()

    def _start(self) -> None:
        self._reported, self._pending, self._number = bytearray(), b"", 0
        self._child = Child(self._source, self._memory, self._settings)
        self._poll = select.poll()
        for fd in (0, self._child.output, self._child.reports, self._wake):
            self._poll.register(fd, select.POLLIN)
        while self._report() is None:
            if self._child.dead:
                sys.exit("no worker could be started")
            self._wait(None)

    def serve(self, token: bytes) -> None:
        """Answer requests for ever.

        Args:
            token: of the first answer, which says that it is ready.
        """
        self._answer(token, b"ready", 0, fresh=False)
        while True:
            start = self._asked.find(b"\n") + 1
            words = bytes(self._asked[:start]).split()
            end = start + int(words[2]) if words else 0
            if not words or len(self._asked) < end:
                self._wait(None)
                continue
            code = bytes(self._asked[start:end])
            del self._asked[:end]
            self._run(words[0], float(words[1]), code)

    def _run(self, token: bytes, seconds: float, code: bytes) -> None:
        fresh = self._child.dead
        if fresh:
            self._child.end()
            self._start()
        self._drain()
        self._capture = Capture(self._limit)
        self._number += 1
        self._pending = b"%d %d\n" % (self._number, len(code)) + code
        kind, value = self._result(seconds)
        self._drain()
        lost = kind in (b"died", b"killed")
        self._answer(token, kind, self._child.end() if lost else value, fresh=fresh)
        if lost:
            self._start()

    def _result(self, seconds: float) -> tuple[bytes, int]:
        """Wait until the code has ended, and see to it that it does."""
        end, interrupts = time.monotonic() + seconds, 0
        while True:
            self._wait(end)
            report = self._report()
            if report is not None:
                return (b"interrupted", 0) if interrupts else report
            if self._child.dead:
                return b"died", 0
            if time.monotonic() < end:
                continue
            if interrupts == MOST_INTERRUPTS:
                return b"killed", 0
            os.killpg(self._child.pid, signal.SIGINT)
            end, interrupts = time.monotonic() + GRACE, interrupts + 1

    def _report(self) -> tuple[bytes, int] | None:
        """What the worker says of the request under way."""
        for line in bytes(self._reported).split(b"\n")[:-1]:
            words = line.split(b" ")
            if words[0] == b"%d" % self._number and len(words) == 3 and words[1] in KINDS and words[2].isdigit():
                self._reported.clear()
                return words[1], int(words[2])
        return None

    def _wait(self, end: float | None) -> None:
        """Wait until something happens, or the time `end`, and take in what did."""
        child = self._child
        if self._pending:
            self._poll.register(child.requests, select.POLLOUT)
        left = None if end is None else max(0, end - time.monotonic()) * 1000
        for fd, _ in self._poll.poll(left):
            if fd == child.requests:
                self._send()
                continue
            data = os.read(fd, READ_SIZE)
            if fd == 0:
                if not data:
                    sys.exit("the terminal has gone")
                self._asked += data
            elif fd == child.output:
                self._capture.feed(data)
            elif fd == child.reports:
                self._reported = (self._reported + data)[-4096:]

    def _send(self) -> None:
        try:
            self._pending = self._pending[os.write(self._child.requests, self._pending) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._pending = b""
        if not self._pending:
            self._poll.unregister(self._child.requests)

    def _drain(self) -> None:
        most = LATE
        while most > 0:
            try:
                data = os.read(self._child.output, READ_SIZE)
            except BlockingIOError:
                return
            self._capture.feed(data)
            most -= len(data)

    def _answer(self, token: bytes, kind: bytes, value: int, *, fresh: bool) -> None:
        capture = self._capture
        capture.trim()
        numbers = (value, fresh, capture.missing, len(capture.head), len(capture.tail))
        data = b"\0%s %s %d %d %d %d %d\n" % (token, kind, *numbers) + capture.head + capture.tail
        while data:
            data = data[os.write(1, data) :]


def main() -> None:
    """Serve, as the arguments say: first token, bytes of output, bytes of memory, threads of libraries, the worker."""
    token, limit, memory, threads, source = sys.argv[1:]
    tty.setraw(0)
    Driver(source, limit=int(limit), memory=int(memory), settings={"OMP_NUM_THREADS": threads}).serve(token.encode())


if __name__ == "__main__":
    main()
