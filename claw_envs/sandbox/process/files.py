"""Copy files into and out of a sandbox with programs that run inside it.

They see the sandbox's root and nothing else, so that neither a link nor `..` leads out. Not covered: owners, times and
special files of what is copied in.
"""

import io
import tarfile
from pathlib import Path, PurePosixPath

from claw_envs.core.errors import UserError
from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.process.output import Capture

FILE_TIMEOUT = 60.0
"""Seconds that copying may take."""
_NOT_FOUND, _NOT_A_FILE = 66, 67
PUT = """set -e
mkdir -p -- "$(dirname -- "$1")"
rm -f -- "$1"
set -C
cat > "$1"
chmod "$2" -- "$1"
"""
"""sh -c PUT sh PATH MODE: replaces the file itself, never what a link in its place points to."""
GET = f"""[ -e "$1" ] || exit {_NOT_FOUND}
[ -f "$1" ] || exit {_NOT_A_FILE}
exec head -c "$2" -- "$1"
"""
"""sh -c GET sh PATH BYTES"""
UNPACK = ["tar", "-x", "-p", "-f", "-", "-C", "/", "--same-owner", "--no-overwrite-dir"]
"""Takes an `archive` on its standard input."""


def check_put(path: str, result: ExecResult) -> None:
    """Raise what `Sandbox.put` raises, unless `PUT` has written the file."""
    if result.exit_code != 0:
        raise OSError(f"{path}: {result.output.strip() or 'timed out'}")


def check_get(path: str, code: int | None, said: Capture) -> None:
    """Raise what `Sandbox.get` raises, unless `GET` has read the file; `said` is what it printed to stderr."""
    if code == _NOT_FOUND:
        raise FileNotFoundError(path)
    if code != 0:
        raise OSError(f"{path}: {'not a regular file' if code == _NOT_A_FILE else said.take()[0].strip()}")


def archive(files: dict[str, str], *, uid: int = 0, gid: int = 0) -> bytes:
    """A tar archive, relative to `/`, of host files and directories at their target paths.

    Args:
        uid: who owns them inside.
        gid: the group that owns them.

    Raises:
        UserError: if a host path does not exist.
    """
    made: set[PurePosixPath] = {PurePosixPath(".")}
    buffer = io.BytesIO()

    def owned(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid, member.gid = uid, gid
        member.uname = member.gname = ""
        return member

    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for target, source in files.items():
            if not Path(source).exists():
                raise UserError(f"sandbox file {target}: {source} does not exist")
            name = PurePosixPath("/", target).relative_to("/")
            if ".." in name.parts:
                raise UserError(f"sandbox file {target}: a target path cannot hold `..`")
            for parent in reversed(name.parents):
                if parent not in made:
                    made.add(parent)
                    folder = tarfile.TarInfo(str(parent))
                    folder.type, folder.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(owned(folder))
            tar.add(Path(source).resolve(), arcname=str(name), filter=owned)
    return buffer.getvalue()
