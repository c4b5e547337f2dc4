"""Which sandbox backends work on this machine, by trying them."""

import asyncio
from typing import NamedTuple

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.namespace.cgroup import CONTROLLERS, places


class Probe(NamedTuple):
    """One backend."""

    backend: str
    usable: bool
    detail: str
    """What holds here, or how to make it usable."""


def probe() -> list[Probe]:
    """Try every backend once. Blocks for some 100 ms; call it outside of an event loop."""
    return [asyncio.run(_namespace()), Probe("local", True, "no isolation at all: only for trusted commands")]


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
