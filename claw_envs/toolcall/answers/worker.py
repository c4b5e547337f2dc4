"""The process that compares answers: `python -m claw_envs.toolcall.answers.worker PARENT CPU MEMORY`.

One JSON object a line. On start it says whether math-verify is there. Then for each question `{"gold", "answer"}` it
says first whether the expected answer could be read, then the verdict. Its limits are the kernel's: processor time by
question, and address space; it also ends with its parent. What it compares is text, which it never runs as code.
"""

import ctypes
import json
import logging
import math
import os
import resource
import signal
import sys
import time
from typing import Any, BinaryIO

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answer questions until stdin ends."""
    parent, cpu, memory = map(int, sys.argv[1:])
    _end_with(parent)
    questions, replies = _own_pipes()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    try:
        from claw_envs.toolcall.answers import symbolic
    except ImportError as error:
        _say(replies, missing=str(error))
        return
    symbolic.same("\\frac{1}{2}x", "0.5x")
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    _hush()
    _say(replies, missing="")
    for line in questions:
        question = json.loads(line)
        try:
            _allow(cpu)
            _say(replies, unread=symbolic.unreadable(question["gold"]))
            _allow(cpu)
            correct, reason = symbolic.compare(question["gold"], question["answer"])
            _say(replies, correct=correct, reason=reason)
        except MemoryError:
            _say(replies, out_of_memory=True)
            return


def _end_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, also in the middle of a computation."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit()


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """stdin and stdout under other numbers, so that nothing else reads or writes them."""
    pipes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return pipes


def _hush() -> None:
    """The parser prints what it cannot read."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)


def _allow(seconds: int) -> None:
    """Let this process have `seconds` more of processor time before the kernel ends it (SIGXCPU)."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + seconds, hard))


def _say(replies: BinaryIO, **reply: Any) -> None:
    replies.write(json.dumps(reply).encode() + b"\n")


if __name__ == "__main__":
    main()
