"""`claw images export`: root file systems out of a container engine, of archives, and of build folders.

Not covered: images of another architecture than this machine's (their programs will not start).
"""

import asyncio
import functools
import io
import re
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec, Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.sandbox.docker.build import find_image
from claw_envs.sandbox.docker.engine import connect
from claw_envs.sandbox.docker.labels import labels
from claw_envs.sandbox.images.archive import add_stream, config_of, export_archive, names_of
from claw_envs.sandbox.images.store import CachedImage, root_of, sweep_unfinished
from claw_envs.sandbox.images.tag import build_tag

_CHUNK = 1 << 20
_PATH = re.compile(r"[/.~].*|.*\.(tar|tar\.gz|tgz)", re.DOTALL)
"""What is meant as a path, where nothing is there: no image's name begins or ends so."""


def export(source: str, name: str | None = None) -> list[CachedImage]:
    """Cache root file systems. Blocks, for minutes where something is built; call it outside of an event loop.

    Args:
        source: a tar archive of `docker save` or `docker export`; a folder with a Dockerfile, which is built first;
            else the name of an image of the container engine.
        name: what to call the one image, in place of its own name.

    Returns:
        The images, one a name.

    Raises:
        UserError: if there is nothing of the kind.
        InfrastructureError: if the engine, or the disk, gives up.
    """
    sweep_unfinished()
    path = Path(source).expanduser()
    try:
        if path.is_file():
            return export_archive(path, name)
        if path.is_dir():
            return [_export_spec(SandboxSpec(build=str(path)), name or build_tag(path))]
        _check_name(source)
        return [_export_spec(SandboxSpec(image=source), name or source)]
    except (OSError, tarfile.TarError) as error:
        raise InfrastructureError(f"{source} could not be exported: {error}") from error


def wanted_by(source: str) -> list[str]:
    """What `export` is to be given for a source of the command line: for a set or folder of tasks, what they need.

    Args:
        source: as for `export`; or a folder of terminal tasks, or what holds SWE tasks.
    """
    from claw_envs.swe.loader import recognises  # a family, which stands on sandboxes

    path = Path(source).expanduser()
    if (path / "Dockerfile").is_file():
        return [source]
    if recognises(source):
        return needed_by(load_tasks("swe", source))
    return needed_by(load_tasks("terminal", str(path))) if path.is_dir() else [source]


def exported_by(source: str) -> list[str]:
    """Names of the cache's images that an export of this source has made, or would make again.

    Raises:
        UserError: if there is none.
    """
    names: list[str] = []
    for wanted in wanted_by(source):
        path = Path(wanted).expanduser()
        if path.is_file():
            names += names_of(path)
        elif path.is_dir():
            names.append(build_tag(path))
        else:
            _check_name(wanted)
            names.append(wanted)
    if found := [name for name in dict.fromkeys(names) if root_of(name)]:
        return found
    raise UserError(f"no exported image {source!r}; `claw images list` shows what there is")


def _check_name(source: str) -> None:
    if _PATH.fullmatch(source):
        raise UserError(f"{source}: no such file or folder")


def needed_by(tasks: Iterable[Task]) -> list[str]:
    """The images and build folders that `tasks` name, each once; none of those that run on the host's own system."""
    specs = [task.sandbox for task in tasks if task.sandbox is not None]
    return list(dict.fromkeys(name for spec in specs if (name := spec.build or spec.image)))


def _export_spec(spec: SandboxSpec, name: str) -> CachedImage:
    engine = connect()
    found = asyncio.run(find_image(engine, spec))
    config = config_of(found["Id"], found["Config"] or {})
    if spec.build is not None:
        config = msgspec.structs.replace(config, folder=str(Path(spec.build).resolve()))
    make = functools.partial(engine.api.create_container, found["Id"], command=["true"], labels=labels())
    container = engine.explained(make)["Id"]
    try:
        pieces = engine.explained(engine.api.export, container, chunk_size=_CHUNK)
        with io.BufferedReader(_Chunks(pieces), _CHUNK) as stream:
            return engine.explained(add_stream, name, config, stream)
    finally:
        engine.explained(engine.api.remove_container, container, force=True)


class _Chunks(io.RawIOBase):
    """A file to be read out of pieces that come from the engine."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._left = self._left or next(self._pieces, b"")
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count
