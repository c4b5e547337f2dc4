"""Images out of tar archives: `docker save` (layers and what the image says) or `docker export` (files alone).

Layers may be plain or compressed with gzip, bzip2 or xz. Not covered: zstd, and archives of the OCI layout alone.
"""

import hashlib
import tarfile
import time
from pathlib import Path
from typing import IO, Any

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.sandbox.images.inside import inside
from claw_envs.sandbox.images.store import CachedImage, Config, add
from claw_envs.sandbox.images.unpack import Unpacker
from claw_envs.sandbox.namespace.host import AGENT_UID, ROOT_UID, host_id, identity

_HOSTS = "127.0.0.1 localhost sandbox\n::1 localhost\n"
_ACCOUNT = {
    "passwd": f"agent:x:{AGENT_UID}:{AGENT_UID}:agent:/home/agent:/bin/bash\n",
    "group": f"agent:x:{AGENT_UID}:\n",
}
_FILLED_BY_ENGINES = {"hosts": _HOSTS, "hostname": "sandbox\n", "resolv.conf": ""}


class _Saved(msgspec.Struct, rename="pascal"):
    """One image of a `manifest.json`."""

    config: str
    layers: list[str]
    repo_tags: list[str] | None = None


def export_archive(path: Path, name: str | None = None) -> list[CachedImage]:
    """Cache the image or images that an archive holds.

    Args:
        name: of the one image; by default its tag, or the archive's file name where that holds no tag.

    Raises:
        UserError: if it is no such archive, or holds several images for one name.
    """
    try:
        with tarfile.open(path) as tar:
            members = tar.getnames()
            if "manifest.json" in members:
                return _saved(tar, path, name)
            if "oci-layout" in members:
                raise UserError(f"{path} has the OCI layout alone: make it with `podman save --format docker-archive`")
        config = config_of(_digest(path), {})
        with path.open("rb") as stream:
            return [add_stream(name or _file_name(path), config, stream)]
    except (tarfile.TarError, EOFError, msgspec.DecodeError) as error:
        reason = str(error).partition("\n")[0]
        raise UserError(f"{path}: no archive of `docker save` or `docker export`: {reason}") from error


def names_of(path: Path) -> list[str]:
    """What `export_archive` calls the images of an archive.

    Raises:
        UserError: if it is no archive.
    """
    try:
        with tarfile.open(path) as tar:
            if "manifest.json" not in tar.getnames():
                return [_file_name(path)]
            images = msgspec.json.decode(_member(tar, "manifest.json").read(), type=list[_Saved])
    except (OSError, tarfile.TarError, EOFError, msgspec.DecodeError) as error:
        raise UserError(f"{path}: no archive of `docker save` or `docker export`: {error}") from error
    return [tag for image in images for tag in image.repo_tags or [_file_name(path)]]


def _file_name(path: Path) -> str:
    return path.name.partition(".tar")[0]


def config_of(digest: str, said: dict[str, Any]) -> Config:
    """The `Config` of an image as engines write it (`Env`, `WorkingDir`, `User`)."""
    env = dict(entry.split("=", 1) for entry in said.get("Env") or [] if "=" in entry)
    return Config(
        digest=digest,
        first_id=ROOT_UID if identity().privileged else 0,
        env=env,
        workdir=said.get("WorkingDir") or "/",
        user=said.get("User") or "",
        created=time.time(),
    )


def add_stream(name: str, config: Config, *layers: IO[bytes], marked: bool = False) -> CachedImage:
    """Cache an image of whole archives.

    Args:
        marked: whether they are layers, with marks for what they remove.
    """

    def fill(root: Path) -> None:
        unpacker = Unpacker(root, owner=host_id if identity().privileged else None)
        for layer in layers:
            unpacker.unpack(layer, layer=marked)
        _complete(root, unpacker)

    return add(name, config, fill)


def _saved(tar: tarfile.TarFile, path: Path, name: str | None) -> list[CachedImage]:
    images = msgspec.json.decode(_member(tar, "manifest.json").read(), type=list[_Saved])
    if name is not None and len(images) != 1:
        raise UserError(f"{path} holds {len(images)} images: leave the name out, each has its own")
    found = []
    for image in images:
        said = _member(tar, image.config).read()
        digest = f"sha256:{hashlib.sha256(said).hexdigest()}"
        config = config_of(digest, msgspec.json.decode(said, type=dict[str, Any]).get("config") or {})
        layers = [_member(tar, layer) for layer in image.layers]
        for tag in [name] if name else image.repo_tags or [_file_name(path)]:
            found.append(add_stream(tag, config, *layers, marked=True))
    return found


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    try:
        member = tar.extractfile(name)
    except KeyError:
        member = None
    if member is None:
        raise tarfile.TarError(f"it has no file {name}")
    return member


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return f"archive:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _complete(root: Path, unpacker: Unpacker) -> None:
    """What an engine adds when it starts a container, and the agent's account, where the image has none."""
    for name, content in _FILLED_BY_ENGINES.items():
        place = inside(root, f"etc/{name}")
        if place.is_symlink() or not place.is_file() or not place.stat().st_size:
            unpacker.write(f"etc/{name}", content)
    for name, line in _ACCOUNT.items():
        place = inside(root, f"etc/{name}")
        known = place.read_text(errors="surrogateescape") if place.is_file() and not place.is_symlink() else ""
        if all(entry.split(":")[2:3] != [str(AGENT_UID)] for entry in known.splitlines()):
            unpacker.write(f"etc/{name}", f"{known.rstrip()}\n{line}".lstrip())
