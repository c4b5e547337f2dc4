"""The durable queue between judging and learning: SQLite in WAL mode, one row a unit of training.

A unit is what is accepted and trained together: one turn for the turn-level signals, one group of episodes for the
group-level ones. It is accepted once its row is committed. The update that trains it is written to its row before
the update begins and never changes, so after a kill the updates later than the last checkpoint are repeated with
exactly the same units: none is lost and none is in the weights twice.
"""

import sqlite3
import threading
from pathlib import Path

import msgspec

from claw_envs.core.codec import from_bytes, to_bytes
from claw_envs.core.episode import Episode

_SCHEMA = """
CREATE TABLE IF NOT EXISTS units (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    samples INTEGER NOT NULL,
    version INTEGER,
    payload BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS by_version ON units (version, seq);
CREATE TABLE IF NOT EXISTS starts (number INTEGER PRIMARY KEY AUTOINCREMENT);
"""


class Unit(msgspec.Struct, kw_only=True):
    """Episodes that are accepted and trained together; for a turn-level signal, one episode with that one turn."""

    id: str
    samples: int
    """How much of a batch it fills: 1, or the size of the group, lost members included."""
    episodes: list[Episode]


class Store:
    """Accepted units, in order of acceptance. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """
        Args:
            path: the database file; made if missing, with everything accepted earlier if not.
        """
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.executescript(_SCHEMA)
        started = self._db.execute("INSERT INTO starts DEFAULT VALUES").lastrowid
        assert started is not None
        self.start: int = started
        """How many times this store has been opened: makes ids of this run of the process unique."""

    def accept(self, unit: Unit) -> bool:
        """Commit `unit`. Returns False where a unit of that id was accepted before (and changes nothing)."""
        row = (unit.id, unit.samples, to_bytes(unit))
        with self._lock:
            query = "INSERT OR IGNORE INTO units (id, samples, payload) VALUES (?, ?, ?)"
            return self._db.execute(query, row).rowcount == 1

    def claim(self, version: int, samples: int) -> list[Unit]:
        """The units that the update to `version` trains, oldest first: the same ones each time it is asked.

        Args:
            version: policy version that the update will produce.
            samples: size of a batch.

        Returns:
            Units of at least `samples` samples together, or [] where fewer are queued.
        """
        with self._lock:
            if not (rows := self._of(version)):
                chosen, filled = [], 0
                for seq, size in self._db.execute("SELECT seq, samples FROM units WHERE version IS NULL ORDER BY seq"):
                    chosen.append(seq)
                    filled += size
                    if filled >= samples:
                        break
                if filled < samples:
                    return []
                with self._db:
                    self._db.execute("BEGIN IMMEDIATE")
                    query = "UPDATE units SET version = ? WHERE seq = ?"
                    self._db.executemany(query, [(version, seq) for seq in chosen])
                rows = self._of(version)
        return [from_bytes(payload, Unit) for (payload,) in rows]

    def queued(self, version: int) -> int:
        """Samples accepted but not in the weights of `version`."""
        query = "SELECT COALESCE(SUM(samples), 0) FROM units WHERE version IS NULL OR version > ?"
        with self._lock:
            return int(self._db.execute(query, (version,)).fetchone()[0])

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    def _of(self, version: int) -> list[tuple[bytes]]:
        return self._db.execute("SELECT payload FROM units WHERE version = ? ORDER BY seq", (version,)).fetchall()
