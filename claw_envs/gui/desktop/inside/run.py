"""Run commands in the desktop's session: to their end within a time, or to stay.

Each is the leader of a process group of its own, which is killed as a whole. Not covered: what a command detaches from
its group lives on.
"""

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import NamedTuple

OUTPUT_BYTES = 1 << 20
"""Kept of what a command prints, of each stream."""
_READ = 1 << 16
_AFTER = 0.2
"""Seconds that the streams of a command that has ended stay open for what it left in the background."""


class Ended(NamedTuple):
    """A command that has ended."""

    output: str
    error: str
    code: int
    """128 + signal where it was killed."""
    timed_out: bool = False


def words(command: str | Sequence[str], *, shell: bool) -> list[str]:
    """The arguments of a command, `~` of each replaced; with `shell`, those of a shell that runs it.

    >>> words("a 'b c'", shell=False), words("a | b", shell=True)
    (['a', 'b c'], ['/bin/bash', '-c', 'a | b'])

    Raises:
        ValueError: if it is empty, or its quotes do not end.
    """
    if shell:
        text = command if isinstance(command, str) else shlex.join(command)
        return ["/bin/bash", "-c", text]
    found = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    if not found:
        raise ValueError("no command")
    return [os.path.expanduser(word) if word.startswith("~/") else word for word in found]


def execute(command: str | Sequence[str], *, shell: bool = False, timeout: float = 120.0) -> Ended:
    """Run a command to its end, or until its time is over.

    Raises:
        OSError: if it cannot be started.
        ValueError: if it is no command.
    """
    process = _start(command, shell, subprocess.PIPE)
    try:
        output, error, timed_out = _collect(process, time.monotonic() + timeout)
    finally:
        kill_group(process)
    code = process.wait()
    return Ended(output, error, 128 - code if code < 0 else code, timed_out)


def launch(command: str | Sequence[str], *, shell: bool = False) -> int:
    """Start a program that stays; its pid.

    Raises:
        OSError: if it cannot be started.
        ValueError: if it is no command.
    """
    process = _start(command, shell, subprocess.DEVNULL)
    _launched.append(process)
    _launched[:] = [one for one in _launched if one.poll() is None]
    return process.pid


_launched: "list[subprocess.Popen[bytes]]" = []
"""Whose ends are still to be taken notice of."""


def _start(command: str | Sequence[str], shell: bool, streams: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        words(command, shell=shell),
        stdin=subprocess.DEVNULL,
        stdout=streams,
        stderr=streams,
        start_new_session=True,
        cwd=os.path.expanduser("~"),
        env=_environment(),
    )


def _environment() -> dict[str, str]:
    """This program's without its own way to modules: what lies there, an agent could change."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a command with all of its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _collect(process: "subprocess.Popen[bytes]", deadline: float) -> tuple[str, str, bool]:
    """What a command prints until it ends, and whether its time was over; both streams are read to their ends."""
    assert process.stdout is not None
    assert process.stderr is not None
    kept = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    ended = os.pidfd_open(process.pid)
    open_ones = {ended, *kept}
    with selectors.DefaultSelector() as streams:
        for fd in open_ones:
            streams.register(fd, selectors.EVENT_READ)
        while open_ones and (ready := streams.select(max(0.0, deadline - time.monotonic()))):
            for fd in [key.fd for key, _ in ready]:
                data = b"" if fd == ended else os.read(fd, _READ)
                if data:
                    kept[fd] += data[: max(0, OUTPUT_BYTES - len(kept[fd]))]
                    continue
                streams.unregister(fd)
                open_ones.discard(fd)
                if fd == ended:
                    deadline = min(deadline, time.monotonic() + _AFTER)
    os.close(ended)
    process.stdout.close()
    process.stderr.close()
    output, error = (bytes(part).decode("utf-8", "replace") for part in kept.values())
    return output, error, ended in open_ones
