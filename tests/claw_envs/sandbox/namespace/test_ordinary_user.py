"""The backend as an ordinary user has it, where root runs the tests."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.sandbox.namespace.host import tools

_UID = 1234
_SCRIPT = """
import asyncio, io, os, sys, tarfile
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.images.export import export

async def main():
    print(export(sys.argv[1], "mine")[0].first_id)
    for spec in (SandboxSpec(), SandboxSpec(image="mine", workdir="", network=("example.org",))):
        sandbox = make_sandbox(spec)
        await sandbox.start()
        shell = await sandbox.shell()
        said = []
        for step in ("id -u", "cat /etc/issue 2>/dev/null || echo none", "echo x > /issue; cat /issue"):
            said.append((await shell.run(step, timeout=60)).output.strip())
        said.append((await sandbox.exec(["id", "-u"], timeout=60, user="verifier")).output.strip())
        await sandbox.reset()
        said.append((await sandbox.exec(["cat", "/issue"], timeout=60)).exit_code)
        await sandbox.close()
        print(*said)

asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="every test here is an ordinary user's then")
def test_host_and_image_roots(in_sandbox: Callable[..., Any], minimal_root: Path) -> None:
    as_user = [tools()["setpriv"], f"--reuid={_UID}", f"--regid={_UID}", "--clear-groups"]
    can = [*as_user, sys.executable, "-c", "import subprocess, sys, claw_envs; subprocess.run([sys.executable, '-V'])"]
    if subprocess.run(can, check=False, capture_output=True).returncode:
        pytest.skip("an ordinary user cannot run this Python")
    with tempfile.TemporaryDirectory() as home:
        archive = Path(home, "root.tar")
        subprocess.run(["tar", "-C", minimal_root, "-cf", archive, "."], check=True)
        os.chown(home, _UID, _UID)
        env = {"HOME": home, "XDG_RUNTIME_DIR": home, "PATH": os.environ["PATH"]}
        command = [*as_user, sys.executable, "-c", _SCRIPT, str(archive)]
        said = subprocess.run(command, env=env, cwd="/", capture_output=True, text=True, check=False)
    assert said.stdout.splitlines() == ["0", "1000 none x 0 1", "1000 my own x 0 1"], said.stderr
