"""The process that runs the agent's code and holds its variables: a child of `driver`, which sends it the code.

It comes into the sandbox as source, so it knows Python 3.8 and the standard library only. Nothing in it protects it
from the code that it runs: whatever that breaks is the driver's to notice.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import linecache
import os
import resource
import signal
import sys
import traceback
import types
from typing import Any

COROUTINE = 0x80
"""`inspect.CO_COROUTINE`."""


class Worker:
    """
    Args:
        requests: descriptor that requests come from: a line `NUMBER LENGTH`, then the code.
        reports: descriptor that a line `NUMBER KIND CODE` is written to when it has run.
        output: descriptor of a pipe that stands in for stdout and stderr.
    """

    def __init__(self, requests: int, reports: int, output: int) -> None:
        self._requests = os.fdopen(requests, "rb")
        self._reports, self._output = reports, output
        self._null = os.open(os.devnull, os.O_RDWR)
        self._pid = os.getpid()
        self._loop: Any = None
        self._streams: list[Any] = []
        self._main = types.ModuleType("__main__")
        sys.modules["__main__"] = self._main
        # copies of this process, which run the same code, end silently where it is interrupted
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def serve(self) -> None:
        """Run what is sent until there is no more."""
        self._restore()
        signal.signal(signal.SIGINT, _ignore)
        self._report(0, "ready", 0)
        while True:
            line = self._requests.readline()
            if not line:
                os._exit(0)
            number, length = map(int, line.split())
            code = self._requests.read(length).decode("utf-8", "surrogatepass")
            self._restore()
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                kind, value = self._run(code, f"<call {number}>")
                self._flush()
                signal.signal(signal.SIGINT, _ignore)
            except KeyboardInterrupt:  # it came between two steps of ours
                signal.signal(signal.SIGINT, _ignore)
                kind, value = "error", 0
            if os.getpid() != self._pid:  # a copy that the code made with `os.fork`
                os._exit(value)
            self._report(number, kind, value)

    def _report(self, number: int, kind: str, value: int) -> None:
        os.write(self._reports, b"%d %s %d\n" % (number, kind.encode(), value))

    def _restore(self) -> None:
        """Make good what the code may have done to the way in and out."""
        os.set_blocking(self._output, True)
        for fd, kept in enumerate((self._null, self._output, self._output)):
            os.dup2(kept, fd)
        if not self._streams or any(stream.closed for stream in self._streams):
            self._streams = [
                open(fd, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
                for fd, mode, errors in (
                    (0, "r", "replace"),
                    (1, "w", "backslashreplace"),
                    (2, "w", "backslashreplace"),
                )
            ]
            for stream in self._streams[1:]:
                stream.reconfigure(line_buffering=True)
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = self._streams  # type: ignore[misc]

    def _flush(self) -> None:
        for stream in [sys.stdout, sys.stderr, *self._streams[1:]]:
            with contextlib.suppress(Exception):  # the code may have put anything there
                stream.flush()
        if "ctypes" in sys.modules:  # the C library keeps its own output back
            with contextlib.suppress(Exception):
                sys.modules["ctypes"].CDLL(None).fflush(None)

    def _run(self, code: str, name: str) -> tuple[str, int]:
        """Run `code`; how it ended, and an exit code."""
        code = code[1:] if code.startswith("\ufeff") else code
        linecache.cache[name] = (len(code), None, [line + "\n" for line in code.split("\n")], name)
        try:
            for step in _steps(code, name):
                value = eval(step, self._main.__dict__)
                if step.co_flags & COROUTINE:
                    self._event_loop().run_until_complete(value)
        except SystemExit as error:
            if not isinstance(error.code, (int, type(None))):
                self._say(f"{error.code}\n")
                return "exit", 1
            return "exit", int(error.code or 0) & 0xFF
        except BaseException as error:  # of the agent's code, which is told of it
            signal.signal(signal.SIGINT, _ignore)
            self._say(_told(error, name))
            full = isinstance(error, MemoryError)
        else:
            return "ok", 0
        if full and not _has_room():  # what the code keeps leaves none for any other
            os.kill(self._pid, signal.SIGKILL)
        return "error", 0

    def _event_loop(self) -> Any:
        import asyncio  # slow, and seldom needed

        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        return self._loop

    def _say(self, text: str) -> None:
        self._flush()
        data = text.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._output, data) :]


def _ignore(number: int, frame: types.FrameType | None) -> None:
    """Of an interrupt that comes when nothing runs. What a thread starts then is not made deaf, as SIG_IGN would."""


def _steps(code: str, name: str) -> list[types.CodeType]:
    """What to evaluate, one after the other: the last expression by itself, so that its value is shown."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile(code, name, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return [compile(tree, name, "exec", flags, dont_inherit=True)]
    last = ast.Interactive([tree.body.pop()])
    return [
        compile(tree, name, "exec", flags, dont_inherit=True),
        compile(last, name, "single", flags, dont_inherit=True),
    ]


def _told(error: BaseException, name: str) -> str:
    """The traceback from the first frame of the code on."""
    try:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != name:
            frames = frames.tb_next
        if frames is None:
            return "".join(traceback.format_exception_only(type(error), error))
        return "".join(traceback.format_exception(type(error), error, frames))
    except Exception:  # no memory is left, or the code changed what is used here
        return f"{type(error).__name__} (its traceback could not be made)\n"


def _has_room() -> bool:
    """Whether Python could get as much memory as it asks for at a time."""
    try:
        bytearray(1 << 20)
    except MemoryError:
        return False
    return True


def limit(lifeline: int, memory: int, settings: dict[str, str]) -> None:
    """Make the process lead a session of its own, without more `memory` (bytes) than it may have, killed with `driver`.

    Args:
        lifeline: read end of a pipe whose other end only the driver has.
        settings: environment variables, where they are not set.
    """
    os.setsid()
    # the kernel kills the whole group once the driver is gone
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # it, and not the driver, where the sandbox has no memory left
    for key, value in settings.items():
        os.environ.setdefault(key, value)
    sys.path[:0] = ["", *filter(None, os.environ.get("PYTHONPATH", "").split(":"))]
    sys.argv = [""]
