"""Remove the containers of owners that are dead. What a live owner has is never touched (see `labels`)."""

import contextlib
import threading

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.docker.engine import Engine, connect
from claw_envs.sandbox.docker.labels import OWNER, abandoned

_swept: set[Engine] = set()
_lock = threading.Lock()


def sweep_once(engine: Engine) -> None:
    """`sweep` an engine, the first time that this process asks."""
    with _lock:
        if engine not in _swept:
            sweep(engine)
            _swept.add(engine)


def sweep(engine: Engine | None = None) -> list[str]:
    """Remove what dead owners left in an engine; names of the containers that were removed. Blocks.

    Args:
        engine: by default the one of this machine's user.

    Raises:
        UserError: if there is none, or the docker SDK is missing.
        InfrastructureError: if it does not answer.
    """
    engine = engine or connect()
    removed = []
    for found in engine.explained(engine.api.containers, all=True, filters={"label": OWNER}):
        if abandoned(found["Labels"]):
            with contextlib.suppress(InfrastructureError):  # somebody else sweeps too
                engine.explained(engine.api.remove_container, found["Id"], force=True, v=True)
                removed.append(found["Names"][0].lstrip("/"))
    return removed
