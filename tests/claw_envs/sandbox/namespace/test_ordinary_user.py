"""The backend as an ordinary user has it, where root runs the tests."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import claw_envs
from claw_envs.sandbox.namespace.host import tools

_UID = 1234
_SCRIPT = """
import asyncio, io, os, sys, tarfile
from pathlib import Path
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
    print(await kept())

async def kept():  # a layer out of one sandbox, seen and changed in the next
    seen, layers = [], []
    for step in ("mkdir -p /opt/a; echo x > /opt/a/b", "cat /opt/a/b; rm /opt/a/b", "ls -A /opt/a; stat -c %U /opt/a"):
        sandbox = make_sandbox(SandboxSpec(layers=tuple(layers)))
        await sandbox.start()
        seen += (await sandbox.exec(["bash", "-c", step], timeout=60)).output.split()
        layers.append(f"{os.environ['HOME']}/layer{len(layers)}")
        await sandbox.keep(Path(layers[-1]))
        await sandbox.close()
    return " ".join(seen)

asyncio.run(main())
"""


_EXPOSE = """
while [ "$1" != -- ]; do
    stash=$(mktemp -d "$HOME/expose.XXXXXX") && mount --bind "$2" "$stash" || exit
    grep -q " $1 tmpfs " /proc/mounts || mount -t tmpfs -o mode=755 tmpfs "$1" || exit
    mkdir -p "$2" && mount --bind "$stash" "$2" || exit
    shift 2
done
shift; exec "$@"
"""
"""In a mount namespace of its own: pairs of a closed directory and what in it is to be reached, `--`, the command."""


def _exposed(argv: list[str]) -> list[str]:
    """`argv` so that its user reaches this Python and this project, even where they lie in a home of root's."""
    pairs: list[str] = []
    for place in {sys.base_prefix, sys.prefix, str(Path(claw_envs.__file__).parents[1])}:
        closed = [str(parent) for parent in reversed(Path(place).parents) if not parent.stat().st_mode & 0o001]
        if closed:
            pairs += [closed[0], place]
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", _EXPOSE, "sh", *pairs, "--", *argv]


@pytest.mark.skipif(os.geteuid() != 0, reason="every test here is an ordinary user's then")
def test_host_and_image_roots(in_sandbox: Callable[..., Any], minimal_root: Path) -> None:
    as_user = [tools()["setpriv"], f"--reuid={_UID}", f"--regid={_UID}", "--clear-groups"]
    with tempfile.TemporaryDirectory() as home:
        archive = Path(home, "root.tar")
        subprocess.run(["tar", "-C", minimal_root, "-cf", archive, "."], check=True)
        os.chown(home, _UID, _UID)
        env = {"HOME": home, "XDG_RUNTIME_DIR": home, "PATH": os.environ["PATH"]}
        command = _exposed([*as_user, sys.executable, "-c", _SCRIPT, str(archive)])
        said = subprocess.run(command, env=env, cwd="/", capture_output=True, text=True, check=False)
    assert said.stdout.splitlines() == ["0", "1000 none x 0 1", "1000 my own x 0 1", "x agent"], said.stderr
