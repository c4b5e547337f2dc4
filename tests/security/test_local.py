"""The `local` backend isolates nothing, and says so wherever one could meet it."""

import asyncio
import uuid
from pathlib import Path

import pytest

from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import local, make_sandbox
from claw_envs.sandbox.probe import probe


def test_it_warns_and_what_it_runs_reads_and_writes_the_host(tmp_path: Path) -> None:
    secret = uuid.uuid4().hex
    (tmp_path / "secret").write_text(secret)

    async def main() -> str:
        with pytest.warns(UserWarning, match="isolates nothing"):
            sandbox = make_sandbox(SandboxSpec(), "local")
        await sandbox.start()
        try:
            script = f"cat {tmp_path}/secret; touch {tmp_path}/written"
            return (await sandbox.exec(["/bin/sh", "-c", script], timeout=30)).output
        finally:
            await sandbox.close()

    assert asyncio.run(main()) == secret
    assert (tmp_path / "written").exists()
    assert "isolates nothing" in str(local.__doc__)
    assert "no isolation" in next(found.detail for found in probe() if found.backend == "local")
