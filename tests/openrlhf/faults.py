"""A tool of an environment that kills the process which holds the environment, once, after two updates."""

import os
import signal
from pathlib import Path


def multiply(first: int, second: int) -> int:
    """Multiply two whole numbers.

    Args:
        first: one.
        second: the other.
    """
    run = Path(os.environ["CLAW_TRAIN_RUN"])
    batches, marker = run / "batches.csv", run / "killed"
    if batches.exists() and len(batches.read_text().splitlines()) > 2 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return first * second
