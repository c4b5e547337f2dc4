"""The face of this program to claw-envs: frames in on standard input, frames out on standard output.

`python3 -m claw_envs.gui.desktop.inside 1280x720`. A request's header has `id`, `do` (a name of `_REQUESTS`) and its
arguments; the answer's has the same `id` and `result`, or `error` with its `kind` and a sentence. Requests are carried
out side by side, so that a long command holds nothing up. The program ends with its input, and takes the desktop along.
"""

import os
import sys
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, NoReturn

from claw_envs.gui.desktop.inside import frames
from claw_envs.gui.desktop.inside.guard import keep_to_itself
from claw_envs.gui.desktop.inside.machine import Machine, MachineError

_THREADS = 8
_Answer = tuple[Any, bytes]


def _look(machine: Machine, request: dict[str, Any], _: bytes) -> _Answer:
    seen = machine.look(axtree=request["axtree"])
    raw = machine.camera.raw() if request["screenshot"] else b""
    return seen, zlib.compress(raw, 1) if request["packed"] else raw


def _read_file(machine: Machine, request: dict[str, Any], _: bytes) -> _Answer:
    return None, machine.read_file(request["path"])


def _write_file(machine: Machine, request: dict[str, Any], body: bytes) -> _Answer:
    machine.write_file(request["path"], body)
    return None, b""


def _wallpaper(machine: Machine, request: dict[str, Any], _: bytes) -> _Answer:
    return None, machine.wallpaper()


_WITH_BYTES: dict[str, Callable[[Machine, dict[str, Any], bytes], _Answer]] = {
    "look": _look,
    "read_file": _read_file,
    "write_file": _write_file,
    "wallpaper": _wallpaper,
}
_PLAIN = (
    "do", "execute", "launch", "list_directory", "xml", "terminal_output", "window_size", "activate_window",
    "close_window", "open_path", "platform", "cursor_position", "change_wallpaper",
)  # fmt: skip
"""Methods of `Machine` that take and return what JSON holds."""


class Face:
    """Answers the requests of one stream."""

    def __init__(self, machine: Machine, answers: BinaryIO) -> None:
        self._machine, self._answers = machine, answers
        self._lock = threading.Lock()

    def serve(self, requests: BinaryIO) -> None:
        """Until the stream ends."""
        with ThreadPoolExecutor(_THREADS) as threads:
            while (frame := frames.read(requests)) is not None:
                threads.submit(self._answer, *frame)

    def say(self, header: dict[str, Any], body: bytes = b"") -> None:
        """Send a frame."""
        with self._lock:
            self._answers.write(frames.pack(header, body))
            self._answers.flush()

    def _answer(self, request: dict[str, Any], body: bytes) -> None:
        number, name = request.pop("id"), request.pop("request")
        request.pop("size")
        try:
            if name in _WITH_BYTES:
                result, raw = _WITH_BYTES[name](self._machine, request, body)
            else:
                assert name in _PLAIN, name
                result, raw = getattr(self._machine, name)(**request), b""
        except (OSError, MachineError, ValueError) as error:
            self.say({"id": number, "error": {"kind": type(error).__name__, "text": str(error)}})
        except BaseException as error:  # X or a bus is gone, or a bug: the desktop is of no use any more
            _end(f"{name}: {type(error).__name__}: {error}")
        else:
            self.say({"id": number, "result": result}, raw)


def _end(reason: str) -> NoReturn:
    print(f"the desktop has ended: {reason}", file=sys.stderr, flush=True)
    os._exit(1)


def main() -> None:
    """See the module."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what programs of the desktop print is no answer
    width, height = (int(part) for part in sys.argv[1].split("x"))
    try:
        keep_to_itself()
        machine = Machine((width, height), on_end=_end)
    except OSError as error:
        _end(str(error))
    face = Face(machine, answers)
    face.say({"id": 0, "result": {"home": str(machine.session.home)}})
    face.serve(sys.stdin.buffer)
    machine.close()
    os._exit(0)


if __name__ == "__main__":
    main()
