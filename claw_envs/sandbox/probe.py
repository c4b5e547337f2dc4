"""Which sandbox backends work on this machine, by trying them."""

import asyncio
from typing import NamedTuple

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.docker.backend import DockerSandbox
from claw_envs.sandbox.docker.find import find_engine
from claw_envs.sandbox.namespace.cgroup import CONTROLLERS, places


class Probe(NamedTuple):
    """One backend."""

    backend: str
    usable: bool
    detail: str
    """What holds here, or how to make it usable."""


def probe() -> list[Probe]:
    """Try every backend once. Blocks for a second at most, where all is well; call it outside of an event loop."""
    local = Probe("local", True, "no isolation at all: only for trusted commands")
    return [asyncio.run(_namespace()), asyncio.run(_docker()), local]


async def _namespace() -> Probe:
    sandbox = make_sandbox(SandboxSpec())
    try:
        await sandbox.start()
        result = await sandbox.exec(["/bin/sh", "-c", "exit 7"], timeout=20.0)
    except (UserError, InfrastructureError) as error:
        return Probe("namespace", False, str(error))
    finally:
        await sandbox.close()
    if result.exit_code != 7:
        return Probe("namespace", False, f"a command inside failed: {result.output.strip()}")
    held = {name for place in places() for name in place.controllers}
    limits = ", ".join(f"{name}: {'cgroup' if name in held else 'rlimit'}" for name in CONTROLLERS[:2])
    return Probe("namespace", True, f"{limits}, cpu: {'cgroup' if 'cpu' in held else 'not limited'}")


async def _docker() -> Probe:
    sandbox = DockerSandbox(SandboxSpec())
    try:
        _, engine = await asyncio.to_thread(find_engine)
        await sandbox.start()
        result = await sandbox.exec(["/bin/sh", "-c", "exit 7"], timeout=20.0)
        in_place = sandbox.resets_in_place
    except (UserError, InfrastructureError) as error:
        return Probe("docker", False, str(error))
    finally:
        await sandbox.close()
    if result.exit_code != 7:
        return Probe("docker", False, f"a command inside failed: {result.output.strip()}")
    how = "disk limited, reset in place" if in_place else "disk not limited, reset by a new container"
    return Probe("docker", True, f"{engine}: {how}")
