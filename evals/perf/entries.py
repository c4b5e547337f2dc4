"""Who takes part in a benchmark and how each is run, and the interpreter that has the peers."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import UserError
from evals.perf.measure import Contestant


class Entry(NamedTuple):
    """A contestant and how it is run."""

    contestant: Contestant
    script: Path
    kind: str

    @property
    def peer(self) -> bool:
        """Runs in the peers' interpreter."""
        return not (self.contestant.ours or self.contestant.baseline)


def make_entry(name: str, title: str, script: Path, kind: str, *, ours: bool = False, baseline: bool = False) -> Entry:
    """The contestant `name`, which `script` puts through as a `kind`."""
    return Entry(Contestant(name=name, title=title, ours=ours, baseline=baseline), script, kind)


def choose(entries: Sequence[Entry], names: Sequence[str]) -> list[Entry]:
    """The entries of these names, all where none is given.

    Raises:
        UserError: if there is no such contestant.
    """
    known = [entry.contestant.name for entry in entries]
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"no contestant {unknown[0]!r}; there are: {', '.join(known)}")
    return [entry for entry in entries if not names or entry.contestant.name in names]


def check_interpreter(python: str, *, install: str) -> str:
    """The peers' interpreter.

    Args:
        install: the command that makes one.

    Raises:
        UserError: if it is none, or too old.
    """
    try:
        code = "import sys; sys.exit(sys.version_info < (3, 11))"
        done = subprocess.run([python, "-c", code], capture_output=True, check=False)
    except OSError as error:
        raise UserError(f"--peers {python}: {error.strerror}; make one with `{install}`") from error
    if done.returncode != 0:
        raise UserError(f"--peers {python} is not Python 3.11 or newer; make one with `{install}`")
    return os.path.abspath(python)  # not resolved: a virtual environment's interpreter is a link
