"""The count itself: what is left is seen, whatever its kind."""

import asyncio
import os

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from tests.faults import census


def test_a_sandbox_that_is_not_closed_is_counted(backend: str) -> None:
    async def main() -> None:
        before = census.take()
        sandbox = make_sandbox(SandboxSpec(), backend)
        await sandbox.start()
        try:
            left = census.take().left(before)
        finally:
            await sandbox.close()
        expected = {"namespace": {"processes", "states", "descriptors"}, "docker": {"containers"}}[backend]
        assert expected <= left.keys()
        assert not census.take().left(before)

    asyncio.run(main())


def test_a_descriptor_is_counted() -> None:
    before = census.take()
    fd = os.open("/dev/null", os.O_RDONLY)
    assert "descriptors" in census.take().left(before)
    os.close(fd)
    assert not census.take().left(before)
