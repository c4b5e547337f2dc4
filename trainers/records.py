"""The audit log: one JSON line for every judged turn, accepted or not, in a file for each policy version.

Lines are written by a background thread, off the serving path. Nothing is ever overwritten: a restart appends.
"""

import queue
import threading
from pathlib import Path

from claw_envs.core.codec import to_json
from claw_envs.core.episode import Turn


class RecordWriter:
    """Appends turns to `turns-vNNNN.jsonl`, NNNN being the version in force when the turn was judged."""

    def __init__(self, directory: Path) -> None:
        """
        Args:
            directory: made if missing.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._queue: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="records", daemon=True)
        self._thread.start()

    def add(self, turn: Turn, *, version: int, accepted: bool) -> None:
        """Queue one line and return at once."""
        self._queue.put((version, to_json({"accepted": accepted, "turn": turn}) + b"\n"))

    def close(self) -> None:
        """Write what is queued and stop."""
        self._queue.put(None)
        self._thread.join()

    def _write(self) -> None:
        while (item := self._queue.get()) is not None:
            version, line = item
            with (self._directory / f"turns-v{version:04d}.jsonl").open("ab") as file:
                file.write(line)
