"""Record and replay of requests: a JSON line for each answer, found again by the hash of what was asked.

Covers answers and failures alike. It does not hold keys, addresses or timings, so a recording may be shared.
"""

import hashlib
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.errors import UserError


class Entry(msgspec.Struct, omit_defaults=True):
    """One line: what was asked, and the answer or the error."""

    key: str
    request: dict[str, Any]
    answer: Any = None
    error: str | None = None
    context_full: bool = False


def key_of(request: dict[str, Any]) -> str:
    """SHA-256 of the request as canonical JSON."""
    return hashlib.sha256(msgspec.json.encode(request, order="deterministic")).hexdigest()


class Recorder:
    """Appends entries to a file; each is on disk, as far as this process goes, when `write` returns."""

    def __init__(self, path: str | Path) -> None:
        """
        Raises:
            UserError: if the file cannot be written.
        """
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - open as long as the client
        except OSError as error:
            raise UserError(f"cannot record to {path}: {error.strerror}") from None

    def write(
        self, request: dict[str, Any], *, answer: Any = None, error: str | None = None, context_full: bool = False
    ) -> None:
        """Append one entry."""
        entry = Entry(key=key_of(request), request=request, answer=answer, error=error, context_full=context_full)
        self._file.write(msgspec.json.encode(entry) + b"\n")

    def close(self) -> None:
        """Close the file. May be called again."""
        self._file.close()


class Tape:
    """A recording, read back. The k-th time something is asked gets the k-th recorded answer."""

    def __init__(self, path: str | Path) -> None:
        """
        Raises:
            UserError: if the file is missing or is not a recording.
        """
        self.path = path
        self._entries: dict[str, deque[Entry]] = defaultdict(deque)
        try:
            lines = Path(path).read_bytes().splitlines()
            for entry in (msgspec.json.decode(line, type=Entry) for line in lines):
                self._entries[entry.key].append(entry)
        except OSError as error:
            raise UserError(f"cannot replay from {path}: {error.strerror}") from None
        except msgspec.DecodeError as error:
            raise UserError(f"{path} is not a recording: {error}") from None

    def play(self, request: dict[str, Any]) -> Entry:
        """The next recorded entry for `request`.

        Raises:
            UserError: if there is none (left).
        """
        left = self._entries.get(key_of(request))
        if not left:
            raise UserError(f"{self.path} holds no (further) answer to this request: record again with record=PATH")
        return left.popleft()
