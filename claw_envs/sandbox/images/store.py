"""The cache of exported root file systems, in `$CLAW_CACHE` (or `~/.cache/claw-envs`) under `images/`.

`<key>/rootfs` and `<key>/image.json` are one image, known by its content; `names/<name>` is a link to it, so that two
names of one image share its files, and a name that moves on does so at one stroke. A directory is written beside its
place and renamed, and moved away before it is removed: what was killed in the middle never counts, and two exports at a
time do not meet.

Owners on disk depend on who exported (see `CachedImage.first_id`), so users do not share a cache. Not covered: a limit
of its size; `claw images remove` makes room.
"""

import contextlib
import hashlib
import itertools
import os
import shutil
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import msgspec

from claw_envs.core.cache import cache_directory
from claw_envs.core.errors import UserError
from claw_envs.sandbox.process.child import start_time

_numbers = itertools.count()


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What an image says beside its files; content of `image.json`."""

    digest: str
    """The engine's id of the image, or a hash of the archive it came from."""
    first_id: int = 0
    """Host id of its first user, where its owners are mapped as `host_id` does; 0: all files are the exporter's."""
    env: dict[str, str] = {}
    workdir: str = "/"
    user: str = ""
    """As the image names it; namespace sandboxes do not heed it."""
    created: float = 0.0
    """Unix time of the export."""
    folder: str = ""
    """The build folder that was exported last with this content; empty for what was not built."""


class CachedImage(Config, frozen=True, kw_only=True):
    """An image whose root file system is at hand."""

    name: str
    rootfs: Path


def images_directory() -> Path:
    """Where the cache is; it need not exist."""
    return cache_directory("images")


def full_name(name: str) -> str:
    """`name` as it is kept: without the default registry, with a tag.

    >>> full_name("docker.io/library/python"), full_name("localhost:5000/a"), full_name("a@sha256:12")
    ('python:latest', 'localhost:5000/a:latest', 'a@sha256:12')
    """
    name = name.removeprefix("docker.io/").removeprefix("library/")
    return name if "@" in name or ":" in name.rpartition("/")[2] else f"{name}:latest"


def root_of(name: str) -> CachedImage | None:
    """The exported image of that name; None where there is none.

    Args:
        name: as an engine knows it, such as `python:3.12-slim`, or what `build_tag` gives.
    """
    try:
        return _read(name, _link(name).resolve())
    except FileNotFoundError:
        return None


def names() -> list[str]:
    """Names of all images of the cache."""
    found = [urllib.parse.unquote(link.name) for link in images_directory().glob("names/*")]
    return sorted(name for name in found if root_of(name))


def add(name: str, config: Config, fill: Callable[[Path], None]) -> CachedImage:
    """Give the image of that digest a name, and its files where the cache has none.

    Args:
        fill: writes the files into an existing, empty root directory.
    """
    place = images_directory() / hashlib.sha256(f"{config.digest} {config.first_id}".encode()).hexdigest()[:32]
    link = _link(name)
    link.parent.mkdir(parents=True, exist_ok=True)
    place.parent.chmod(0o700)  # images have directories that everybody may write
    if not place.is_dir():
        building = _beside(place)
        try:
            (building / "rootfs").mkdir(parents=True)
            (building / "rootfs").chmod(0o755)
            fill(building / "rootfs")
            (building / "image.json").write_bytes(msgspec.json.encode(config))
            with contextlib.suppress(OSError):  # another export was faster
                building.rename(place)
        finally:
            _remove_tree(building)
    if config.folder:
        fresh = _beside(place)
        fresh.write_bytes(msgspec.json.encode(config))
        fresh.rename(place / "image.json")
    fresh = _beside(place)
    fresh.symlink_to(Path("..", place.name))
    fresh.rename(link)
    return _read(name, place)


def _read(name: str, place: Path) -> CachedImage:
    config = msgspec.json.decode((place / "image.json").read_bytes(), type=Config)
    return CachedImage(name=full_name(name), rootfs=place / "rootfs", **msgspec.structs.asdict(config))


def _beside(place: Path) -> Path:
    """A name for what is not yet finished, which tells whose it is."""
    return place.with_name(f"{os.getpid()}-{start_time(os.getpid())}-{next(_numbers)}")


def remove(name: str) -> None:
    """Forget a name, and the image with its last name. A sandbox that runs on it breaks.

    Raises:
        UserError: if there is no such image.
    """
    if root_of(name) is None:
        raise UserError(f"no exported image {name!r}; `claw images list` shows what there is")
    link = _link(name)
    place = link.resolve()
    link.unlink()
    if all(other.resolve() != place for other in link.parent.iterdir()):
        _remove_tree(place.rename(_beside(place)))


def sweep_unfinished() -> list[str]:
    """Remove what exports that were killed left; the directories that were removed."""
    removed = []
    for building in images_directory().glob("*-*-*"):
        pid, started, _ = building.name.split("-", 2)
        if pid.isdigit() and str(start_time(int(pid))) != started:
            _remove_tree(building)
            removed.append(str(building))
    return removed


def _link(name: str) -> Path:
    return images_directory() / "names" / urllib.parse.quote(full_name(name), safe="")


def _remove_tree(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)
