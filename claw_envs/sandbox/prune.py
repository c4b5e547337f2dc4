"""`claw sandbox`: what is on this machine, and the removal of what nobody owns any more.

Every backend removes what dead owners left when it is first used. `prune` does it at once, for all of them, and also
removes what has expired: namespace sandboxes of a live owner that began no episode for a day, and containers of another
machine that are a day old. Not covered: what other users own.
"""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.docker import sweep as containers
from claw_envs.sandbox.docker.engine import connect
from claw_envs.sandbox.docker.labels import OWNER, abandoned, machine
from claw_envs.sandbox.images.store import sweep_unfinished
from claw_envs.sandbox.local import PREFIX
from claw_envs.sandbox.namespace import sweep as namespaces
from claw_envs.sandbox.process.child import start_time


class Row(NamedTuple):
    """A sandbox that runs, or that `prune` removes."""

    backend: str
    name: str
    owner: int
    """Host pid."""
    age: float
    """Seconds."""
    processes: int | None
    """None where they cannot be told from others."""
    state: str
    """`runs`; `prune` removes what is `dead` (its owner is) or `expired`."""


def prune() -> list[str]:
    """Remove what is abandoned or has expired; `backend name` of each thing that was removed.

    Raises:
        UserError: if the engine that `DOCKER_HOST` names does not answer; nothing has been removed then.
        InfrastructureError: if a container engine is there and refuses.
    """
    with _engine_if_any():
        connect()
    removed = [f"namespace {name}" for name in namespaces.sweep(expired=True)]
    for row in _local():
        if row.state == "dead":
            shutil.rmtree(row.name, ignore_errors=True)
            removed.append(f"local {row.name}")
    removed += [f"export {path}" for path in sweep_unfinished()]
    with _engine_if_any():
        removed += [f"docker {name}" for name in containers.sweep()]
    return removed


def listed() -> Iterator[Row]:
    """The sandboxes that run, and those that `prune` removes.

    Raises:
        UserError: if the engine that `DOCKER_HOST` names does not answer; all but its containers have come then.
        InfrastructureError: if a container engine is there and refuses.
    """
    yield from (Row("namespace", *found) for found in namespaces.listed())
    yield from _local()
    with _engine_if_any():
        yield from _containers()


@contextlib.contextmanager
def _engine_if_any() -> Iterator[None]:
    """Without an engine, or the SDK, there are no containers; one that was named should be there."""
    try:
        yield
    except UserError:
        if os.environ.get("DOCKER_HOST"):
            raise


def _containers() -> Iterator[Row]:
    engine = connect()
    for found in engine.explained(engine.api.containers, all=True, filters={"label": OWNER}):
        where, _, process = found["Labels"][OWNER].partition(":")
        state = "runs"
        if abandoned(found["Labels"]):
            state = "dead" if where == machine() else "expired"
        processes = 0
        with contextlib.suppress(InfrastructureError):  # it does not run, or no longer
            processes = len(engine.explained(engine.api.top, found["Id"])["Processes"] or ())
        name, pid = found["Names"][0].lstrip("/"), process.partition("-")[0]
        yield Row("docker", name, int(pid) if pid.isdigit() else 0, time.time() - found["Created"], processes, state)


def _local() -> Iterator[Row]:
    """This user's."""
    for path in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*-*")):
        pid, started, _ = path.name.removeprefix(PREFIX).split("-", 2)
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            about = path.stat()
            if pid.isdigit() and about.st_uid == os.geteuid():
                state = "runs" if str(start_time(int(pid))) == started else "dead"
                yield Row("local", str(path), int(pid), time.time() - about.st_mtime, None, state)
