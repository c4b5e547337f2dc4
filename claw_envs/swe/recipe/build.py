"""The sandbox in which a layer is made: without network, roomy, and only there."""

import contextlib
from collections.abc import AsyncIterator

import msgspec

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.namespace.backend import NamespaceSandbox

_ROOM_MB = 16_384


@contextlib.asynccontextmanager
async def build(spec: SandboxSpec) -> AsyncIterator[NamespaceSandbox]:
    """A started sandbox of `spec`, with room for compilers and large packages; it is closed afterwards."""
    roomy = msgspec.structs.replace(spec, memory_mb=8192, disk_mb=_ROOM_MB, pids=1024, cpus=4.0)
    sandbox = NamespaceSandbox(roomy)
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.close()
