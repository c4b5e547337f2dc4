"""Unpack tar archives of root file systems, whoever made them, into a directory that nobody else writes.

Every path is looked up as if the directory was the root, and every file is made new, so that nothing outside is read
or written whatever links an archive holds. Owners are mapped where the caller is root, else everything becomes the
caller's. Left out: device nodes, sockets and pipes, extended attributes, set-id bits, times of directories.
"""

import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from claw_envs.sandbox.images.inside import inside

_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
_USABLE = 0o700
"""What a directory's owner may always do, or the image could be neither read nor removed."""


class Unpacker:
    """Unpacks one archive, or the layers of an image one after the other.

    Args:
        root: an existing directory.
        owner: host id for an id of the archive, for users as for groups; None: all becomes the caller's.
    """

    def __init__(self, root: Path, *, owner: Callable[[int], int] | None) -> None:
        self._root = root
        self._owner = owner
        self._own(root, 0, 0)

    def unpack(self, stream: IO[bytes], *, layer: bool = False) -> None:
        """Add an archive, which may be compressed.

        Args:
            layer: whether the marks of a layer (`.wh.NAME`) remove what lower layers have.

        Raises:
            tarfile.TarError: if it is no tar archive, or damaged.
            OSError: if something cannot be written.
        """
        fresh: set[Path] = set()
        with tarfile.open(fileobj=stream, mode="r|*") as tar:
            for member in tar:
                place = inside(self._root, member.name)
                if place == self._root:
                    continue
                if layer and place.name.startswith(_WHITEOUT):
                    self._white_out(place, fresh)
                elif member.isreg() or member.isdir() or member.issym() or member.islnk():
                    self._add(tar, member, place)
                    fresh.add(place)

    def _white_out(self, mark: Path, fresh: set[Path]) -> None:
        name = mark.name.removeprefix(_WHITEOUT)
        hidden = [] if name in ("", ".", "..") else [mark.with_name(name)]
        if mark.name == _OPAQUE:
            hidden = list(mark.parent.iterdir()) if mark.parent.is_dir() else []
        for path in hidden:
            if path not in fresh:
                _remove(path)

    def _add(self, tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
        self._make_folder(place.parent)
        if not (member.isdir() and place.is_dir() and not place.is_symlink()):
            _remove(place)
        if member.islnk():
            os.link(inside(self._root, member.linkname), place, follow_symlinks=False)
            return
        if member.issym():
            place.symlink_to(member.linkname)
        elif member.isdir():
            place.mkdir(exist_ok=True)
        else:
            self._write(tar, member, place)
        self._own(place, member.uid, member.gid)
        if not member.issym():
            place.chmod(member.mode & 0o1777 | (_USABLE if member.isdir() else 0))

    def _make_folder(self, folder: Path) -> None:
        """A folder that the archive takes for granted."""
        if not folder.is_dir():
            self._make_folder(folder.parent)
            folder.mkdir()
            self._own(folder, 0, 0)

    def _own(self, place: Path, uid: int, gid: int) -> None:
        if self._owner is not None:
            os.chown(place, self._owner(uid), self._owner(gid), follow_symlinks=False)

    def write(self, path: str, text: str) -> None:
        """Write a text file of the image, which is root's where it is new.

        Raises:
            OSError: if it cannot be written.
        """
        place = inside(self._root, path)
        if not place.is_file() or place.is_symlink():
            self._make_folder(place.parent)
            _remove(place)
            place.touch()
            self._own(place, 0, 0)
        place.write_text(text, errors="surrogateescape")

    @staticmethod
    def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
        content = tar.extractfile(member)
        assert content is not None
        with content, place.open("xb") as file:
            shutil.copyfileobj(content, file, 1 << 20)
        os.utime(place, (member.mtime, member.mtime))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
