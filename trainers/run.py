"""A run directory: where everything about one run lies, and whether it may be begun or resumed."""

import shutil
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.errors import UserError
from trainers.config import Config
from trainers.store import Store


class RunDirectory:
    """Paths of one run.

    `config.toml`, `metrics.csv`, `scores.csv`, `records/`, `store.sqlite`, `checkpoints/`, `tensorboard/`.
    """

    def __init__(self, root: Path, *, resume: bool, begun_by: str = "store.sqlite") -> None:
        """
        Args:
            root: made by `write_config` if missing.
            resume: go on with the run that is there.
            begun_by: the file by which a run that was begun is known.

        Raises:
            UserError: if there is a run and it is not to be resumed, or none and it is.
        """
        self.root = root
        begun = (root / begun_by).exists()
        if begun and not resume:
            raise UserError(f"{root} holds a run already: add --resume to go on with it, or give another --run")
        if resume and not begun:
            raise UserError(f"{root} holds no run to resume: leave --resume out, or give the right --run")
        self._before = set(root.iterdir()) if root.is_dir() else None

    @property
    def store(self) -> Path:
        """The durable queue of accepted units."""
        return self.root / "store.sqlite"

    @property
    def checkpoints(self) -> Path:
        """One directory a version."""
        return self.root / "checkpoints"

    @property
    def records(self) -> Path:
        """The audit log."""
        return self.root / "records"

    def write_config(self, config: Config) -> None:
        """Keep the settings, in the form that `--config` reads."""
        import tomli_w

        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "config.toml").write_text(tomli_w.dumps(_without_none(msgspec.to_builtins(config))))

    def discard(self) -> None:
        """Remove what this run has written, unless it was resumed or a unit was accepted; what was there before stays.

        Everything that writes there must have been closed.
        """
        if self.store in (self._before or ()) or not self.root.is_dir():
            return
        if self.store.exists() and _accepted(self.store):
            return
        for path in set(self.root.iterdir()) - (self._before or set()):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        if self._before is None:
            self.root.rmdir()


def _accepted(path: Path) -> bool:
    store = Store(path)
    try:
        return store.queued(0) > 0
    finally:
        store.close()


def _without_none(table: dict[str, Any]) -> dict[str, Any]:
    """TOML has no null; a key that is left out means the same."""
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in table.items()
        if value is not None
    }
