"""Where a path of a root file system leads, for a process whose root it is: links never lead out of it."""

import errno
import os
from pathlib import Path, PurePosixPath

_MOST_LINKS = 40


def inside(root: Path, path: str) -> Path:
    """`path` below `root` on the host, with all links followed but the last part's own.

    Raises:
        OSError: if links lead in a circle.
    """
    left = _parts(path)
    current, links = root, 0
    while left:
        part = left.pop()
        if part == "..":
            current = current if current == root else current.parent
            continue
        place = current / part
        if not left or not place.is_symlink():
            current = place
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(place)
        current = root if target.startswith("/") else current
        left += _parts(target)
    return current


def _parts(path: str) -> list[str]:
    return [part for part in reversed(PurePosixPath(path).parts) if part != "/" and part != "//"]
