"""The audit log: one JSON line for every judged turn, accepted or not, in a file for each policy version.

Lines are written by a background thread, off the serving path. Nothing is ever overwritten: a restart appends.
"""

import queue
import threading
from pathlib import Path
from typing import IO

from claw_envs.core.codec import to_json
from claw_envs.core.episode import Episode, Turn


class RecordWriter:
    """Appends turns to `turns-vNNNN.jsonl`, NNNN the version in force, and aborted episodes to `aborted.jsonl`."""

    def __init__(self, directory: Path) -> None:
        """
        Args:
            directory: made if missing.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._queue: queue.SimpleQueue[tuple[str, bytes] | None] = queue.SimpleQueue()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._write, name="records", daemon=True)
        self._thread.start()

    def add(self, turn: Turn, *, version: int, accepted: bool) -> None:
        """Queue one turn and return at once.

        Raises:
            OSError: that an earlier line could not be written.
        """
        self._put(f"turns-v{version:04d}.jsonl", {"accepted": accepted, "turn": turn})

    def abort(self, episode: Episode) -> None:
        """Queue one aborted episode; errors as for `add`."""
        self._put("aborted.jsonl", {"episode": episode.id, "task": episode.task_id, "error": episode.error})

    def close(self) -> None:
        """Write what is queued and stop. May be called again."""
        self._queue.put(None)
        self._thread.join()

    def _put(self, name: str, line: object) -> None:
        if self._error is not None:
            raise self._error
        self._queue.put((name, to_json(line) + b"\n"))

    def _write(self) -> None:
        files: dict[str, IO[bytes]] = {}
        try:
            while (item := self._queue.get()) is not None:
                name, line = item
                if name not in files:
                    for file in files.values():
                        file.close()
                    files = {name: (self._directory / name).open("ab", buffering=0)}
                files[name].write(line)
        except OSError as error:
            self._error = error
        for file in files.values():
            file.close()
