"""The name of the image that a build folder makes, by its content: equal folders make one image, built once.

Counts: every path, what kind it is, whether it may be executed, and its content or link target. Does not count: owners,
times, other permissions, and what a `.dockerignore` leaves out (it counts like everything else).
"""

import hashlib
import os
from pathlib import Path

from claw_envs.core.errors import UserError

REPOSITORY = "claw-envs/build"
_DIGITS = 32


def build_tag(folder: str | Path) -> str:
    """`claw-envs/build:<hash>` of a folder that holds a `Dockerfile`.

    Raises:
        UserError: if it holds none.
    """
    folder = Path(folder)
    if not (folder / "Dockerfile").is_file():
        raise UserError(f"{folder}: no Dockerfile there, so no image can be built")
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        for part in (os.fsencode(path.relative_to(folder)), *_content(path)):
            total.update(len(part).to_bytes(8, "big") + part)
    return f"{REPOSITORY}:{total.hexdigest()[:_DIGITS]}"


def _content(path: Path) -> tuple[bytes, bytes]:
    """What kind of entry it is, and a digest of what it holds."""
    if path.is_symlink():
        return b"link", os.fsencode(path.readlink())
    if path.is_dir():
        return b"folder", b""
    if not path.is_file():
        return b"special", b""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    return b"program" if path.stat().st_mode & 0o100 else b"file", digest
