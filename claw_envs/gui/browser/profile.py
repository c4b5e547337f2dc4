"""Folders for a browser's profile on the host, where no wall gives it one that is never written to a disk.

A process that is killed leaves its folders behind; the next one that starts a browser deletes them.
"""

import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "claw-browser-"


def make_profile() -> Path:
    """A new folder, named after this process."""
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def sweep() -> None:
    """Delete the folders of processes that are no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(folder, ignore_errors=True)
