"""Containers of our own desktop image, each made anew for one episode, behind OSWorld's protocol.

They share one internal network that has no way out. On it they cannot reach each other (where the engine filters
packets), nor use each other's server, as each has a secret of its own. Labelled and swept as sandboxes' containers are.

Not covered: an engine on another machine, whose containers this one does not reach; and what listens on all addresses
of the engine's host, which a container can connect to.
"""

import asyncio
import atexit
import os
import secrets
import threading
from contextlib import suppress
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui.desktop.client import PLACE, PROGRAM
from claw_envs.gui.desktop.inside.names import SECRET_VARIABLE
from claw_envs.gui.desktop.machine import IMAGE
from claw_envs.gui.osworld.machines.answering import come_up
from claw_envs.gui.osworld.machines.base import Lent
from claw_envs.sandbox.docker.engine import Engine, NotThereError, connect
from claw_envs.sandbox.docker.labels import labels
from claw_envs.sandbox.docker.sweep import sweep_once
from claw_envs.sandbox.process.files import archive

NETWORK = "claw-envs-desktops"
_PORT = 5000
_START_TIMEOUT = 120.0
"""Seconds until a desktop answers."""
_MEMORY, _PIDS, _CPUS = 2 << 30, 512, 2.0
_MODULE = "claw_envs.gui.desktop.inside.http"
_held: dict[str, Engine] = {}
"""Containers of this process by name."""
_making = threading.Lock()


class DockerMachines:
    """See the module, and `base.Provider`."""

    web = False

    def __init__(self, size: tuple[int, int]) -> None:
        """
        Args:
            size: of the screens, in pixels.
        """
        self._size = size
        self._lent: dict[str, str] = {}
        """Secret -> the container's name; addresses are used again."""

    async def lease(self, task: Task) -> Lent:
        """See `base.Provider.lease`."""
        engine = await asyncio.to_thread(connect)
        await engine.call(sweep_once, engine)
        network = await engine.call(_network, engine)
        name, secret = f"claw-envs-desktop-{secrets.token_hex(8)}", secrets.token_hex(16)
        _held[name] = engine
        try:
            await self._start(engine, name, secret, network)
            url = f"http://{await _address(engine, name)}:{_PORT}"
            await come_up(url, timeout=_START_TIMEOUT, secret=secret)
        except BaseException:
            await _remove(name)
            raise
        self._lent[secret] = name
        return Lent(url, secret)

    async def _start(self, engine: Engine, name: str, secret: str, network: str) -> None:
        width, height = self._size
        try:
            await engine.call(
                engine.api.create_container,
                IMAGE,
                entrypoint=["/usr/bin/python3", "-m", _MODULE],
                command=[f"{width}x{height}", "--host", "0.0.0.0", "--port", str(_PORT)],
                name=name,
                hostname="desktop",
                labels=labels(),
                environment={"PYTHONPATH": PLACE, "PYTHONDONTWRITEBYTECODE": "1", SECRET_VARIABLE: secret},
                stop_signal="SIGKILL",
                host_config=_host_config(engine, network),
            )
        except NotThereError as error:
            raise UserError(f"the image {IMAGE} is missing: make it with dockerfiles/desktop/build.sh") from error
        files = await asyncio.to_thread(archive, {f"{PLACE}/claw_envs/gui/desktop/inside": str(PROGRAM)})
        await engine.call(engine.api.put_archive, name, "/", files)
        await engine.call(engine.api.start, name)

    async def give_back(self, lent: Lent, *, failed: bool) -> None:
        """See `base.Provider.give_back`."""
        name = self._lent.pop(lent.secret, None)
        if name is not None:
            await _remove(name)


def _network(engine: Engine) -> str:
    """Id of the network, made where there is none yet. Blocks.

    Engines may make two of one name where two processes ask at once: all use the one that was made first.
    """
    api = engine.api
    with _making:
        found = _networks(engine)
        if not found:
            options = {"com.docker.network.bridge.enable_icc": "false"}
            engine.explained(api.create_network, NETWORK, driver="bridge", internal=True, options=options)
            found = _networks(engine)
    return found[0]


def _networks(engine: Engine) -> list[str]:
    """Ids of those of our name, in the order in which they were made."""
    found = engine.explained(engine.api.networks, names=[NETWORK])
    return [each["Id"] for each in sorted(found, key=lambda each: each["Created"]) if each["Name"] == NETWORK]


async def _address(engine: Engine, name: str) -> str:
    found = await engine.call(engine.api.inspect_container, name)
    addresses = [each["IPAddress"] for each in found["NetworkSettings"]["Networks"].values() if each["IPAddress"]]
    if not addresses:
        said = await engine.call(engine.api.logs, name, tail=5)
        raise InfrastructureError(f"a desktop's container has ended: {said.decode(errors='replace').strip()}")
    return str(addresses[0])


async def _remove(name: str) -> None:
    """Remove a container; one whose engine does not answer is left to the next sweep."""
    engine = _held[name]
    with suppress(InfrastructureError):
        await engine.call(engine.api.remove_container, name, force=True, v=True)
        del _held[name]


def _host_config(engine: Engine, network: str) -> dict[str, Any]:
    config: dict[str, Any] = engine.api.create_host_config(
        network_mode=network,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        ipc_mode="private",
        init=True,
        pids_limit=_PIDS,
        mem_limit=_MEMORY,
        memswap_limit=_MEMORY,
        nano_cpus=int(_CPUS * 1e9),
        shm_size=256 << 20,
        dns=[],
        ulimits=[{"name": "core", "soft": 0, "hard": 0}, {"name": "nofile", "soft": 4096, "hard": 4096}],
    )
    return config


def _remove_held(owner: int) -> None:
    if os.getpid() != owner:
        return
    for name, engine in _held.items():
        with suppress(InfrastructureError):  # removed before, or its engine is gone: the next sweep finds it
            engine.explained(engine.api.remove_container, name, force=True, v=True)


atexit.register(_remove_held, os.getpid())
