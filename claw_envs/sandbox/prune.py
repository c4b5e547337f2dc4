"""`claw sandbox`: what runs on this machine, and the removal of what nobody owns any more.

Every backend removes what dead owners left when it is first used. `prune` does it at once, for all of them, and also
removes what has expired: namespace sandboxes of a live owner that began no episode for a day, and containers of another
machine that are a day old. Not covered: what other users own.
"""

import contextlib
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.docker import sweep as containers
from claw_envs.sandbox.docker.engine import connect
from claw_envs.sandbox.docker.labels import OWNER, abandoned
from claw_envs.sandbox.images.store import sweep_unfinished
from claw_envs.sandbox.local import PREFIX
from claw_envs.sandbox.namespace import sweep as namespaces
from claw_envs.sandbox.process.child import start_time


class Row(NamedTuple):
    """A sandbox that runs."""

    backend: str
    name: str
    owner: int
    """Host pid."""
    age: float
    """Seconds."""
    processes: int
    expired: bool
    """Whether `prune` removes it."""


def prune() -> list[str]:
    """Remove what is abandoned or has expired; `backend name` of each thing that was removed.

    Raises:
        InfrastructureError: if a container engine is there and does not answer.
    """
    removed = [f"namespace {name}" for name in namespaces.sweep(expired=True)]
    removed += [f"local {path}" for path in _prune_local()]
    removed += [f"export {path}" for path in sweep_unfinished()]
    with contextlib.suppress(UserError):  # no engine, or no SDK: then there are no containers to remove
        removed += [f"docker {name}" for name in containers.sweep()]
    return removed


def living() -> list[Row]:
    """The sandboxes that run.

    Raises:
        InfrastructureError: if a container engine is there and does not answer.
    """
    rows = [Row("namespace", *found) for found in namespaces.living()]
    with contextlib.suppress(UserError):
        rows += _containers()
    return rows


def _containers() -> list[Row]:
    engine = connect()
    rows = []
    for found in engine.explained(engine.api.containers, filters={"label": OWNER}):
        pid = found["Labels"][OWNER].partition(":")[2].partition("-")[0]
        age = time.time() - found["Created"]
        name = found["Names"][0].lstrip("/")
        with contextlib.suppress(InfrastructureError):  # it has ended meanwhile
            processes = len(engine.explained(engine.api.top, found["Id"])["Processes"] or ())
            rows.append(Row("docker", name, int(pid or 0), age, processes, abandoned(found["Labels"])))
    return rows


def _prune_local() -> list[Path]:
    removed = []
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*-*"):
        pid, started, _ = path.name.removeprefix(PREFIX).split("-", 2)
        if pid.isdigit() and str(start_time(int(pid))) != started:
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    return removed
