"""Files of the machine: read, write and list them as the desktop's user."""

import os
from pathlib import Path
from typing import Any

MOST_ENTRIES = 20_000
"""Of a listing; what is beyond is left out."""
_DEEPEST = 100
"""Folders in each other that a listing goes down: whoever makes more must not end the desktop by it."""


def place(path: str) -> Path:
    """`path` with `~` and variables replaced; a relative one is in the home directory."""
    return Path("~").expanduser() / os.path.expanduser(os.path.expandvars(path))


def read(path: str, *, most: int) -> bytes:
    """What a file holds, its first `most` bytes.

    Raises:
        OSError: if it cannot be read, or is no regular file.
    """
    found = place(path)
    if found.exists() and not found.is_file():
        raise IsADirectoryError(f"{path} is not a regular file")
    with found.open("rb") as file:
        return file.read(most)


def write(path: str, data: bytes) -> None:
    """Write a file; its folder is made.

    Raises:
        OSError: if it cannot be written.
    """
    target = place(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def listing(path: str) -> dict[str, Any] | None:
    """A tree of `{"type": "directory" | "file", "name", "children"}`, sorted; None where there is none."""
    top = place(path)
    left = MOST_ENTRIES

    def entry(folder: Path, depth: int) -> dict[str, Any]:
        nonlocal left
        children: list[dict[str, Any]] = []
        try:
            found = sorted(os.scandir(folder), key=lambda one: one.name) if depth < _DEEPEST else []
        except OSError:
            found = []
        for one in found:
            if left <= 0:
                break
            left -= 1
            if one.is_dir(follow_symlinks=False):
                children.append(entry(Path(one.path), depth + 1))
            else:
                children.append({"type": "file", "name": one.name})
        return {"type": "directory", "name": folder.name, "children": children}

    return entry(top, 0) if top.is_dir() else None
