"""The cache of layers: `$CLAW_CACHE/recipes/<key>`, each a tree from `/` for `SandboxSpec.layers`.

A layer is known by all that it is made from. It is made beside its place and renamed, under a lock that a dying process
lets go of, so that what was killed in the middle never counts and two that want the same make it once. Owners on disk
are those of sandboxes of whoever made it, so users do not share a cache.

Not covered: a limit of its size; the folder may be removed while nothing runs.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import shutil
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.cache import cache_directory
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.namespace.host import identity

_DIGITS = 32
_LONGEST_WAIT = 3600.0
"""Seconds that somebody else may take for the same layer."""


def layers_directory() -> Path:
    """Where the cache is; it need not exist."""
    return cache_directory("recipes")


def make_directory(path: Path) -> None:
    """Make a folder of the cache, or the cache itself, where it is not there.

    Raises:
        UserError: if nothing can be written there.
    """
    reason = "no right to"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = str(error.strerror)
    if not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
        raise UserError(f"{path} cannot be written ({reason}): set CLAW_CACHE to a folder of yours")


def key_of(kind: str, *parts: Any) -> str:
    """The name of a layer that is made from `parts`, which JSON can hold."""
    made_from = msgspec.json.encode([*parts, identity().agent])
    return f"{kind}-{hashlib.sha256(made_from).hexdigest()[:_DIGITS]}"


async def layer(key: str, make: Callable[[Path], Awaitable[None]]) -> Path:
    """The layer of that key, made where the cache has none.

    Args:
        make: is given a path that does not exist, and makes the layer there.

    Raises:
        UserError: if the cache cannot be written.
        InfrastructureError: if somebody else is making it and does not come to an end, or the disk is full.
    """
    place = layers_directory() / key
    if _is_there(place):
        return place
    make_directory(place.parent)
    async with _locked(place.with_name(f"{key}.lock")):
        if not _is_there(place):
            building = place.with_name(f"{key}.building")
            await asyncio.to_thread(_remove, building)
            try:
                await make(building)
                building.rename(place)
            except OSError as error:
                raise InfrastructureError(f"{place} cannot be made: {error}") from error
            finally:
                await asyncio.to_thread(_remove, building)
    return place


def _is_there(place: Path) -> bool:
    return os.path.isdir(place)  # `Path.is_dir` fails where a folder above may not be entered


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)


@contextlib.asynccontextmanager
async def _locked(path: Path) -> AsyncIterator[None]:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await _wait_for(file, path)
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)  # a fork may have the file still
        os.close(file)


async def _wait_for(file: int, path: Path) -> None:
    """Lock `file` in a thread of its own: those of the loop would all be taken by many that wait for one layer."""
    loop = asyncio.get_running_loop()
    locked: asyncio.Future[None] = loop.create_future()
    same = os.dup(file)  # outlives a caller that is cancelled

    def tell() -> None:
        if not locked.done():
            locked.set_result(None)

    def wait() -> None:
        fcntl.flock(same, fcntl.LOCK_EX)
        os.close(same)
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(tell)

    threading.Thread(target=wait, name="claw-envs-lock", daemon=True).start()
    try:
        await asyncio.wait_for(locked, _LONGEST_WAIT)
    except TimeoutError:
        raise InfrastructureError(f"another process makes the same layer and does not end: {path}") from None
