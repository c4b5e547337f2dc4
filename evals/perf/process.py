"""A contestant's process, as the harness sees it: requests go in and answers come back as JSON lines.

Each process has a directory of its own under the system's temporary directory, which is its home, in which it works and
in which lies a file that no sandbox should show. Containers that are left of it when it ends are removed.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from claw_envs.core.cache import cache_directory
from evals.perf.measure import Failed

SECRET = "secret-of-the-host"
"""File in a contestant's directory on the host."""
_SERVE = Path(__file__).parent / "serve.py"
_LINE_LIMIT = 1 << 24
_GRACE = 30.0
"""Seconds that a process gets to stop its episodes."""
_DOCKER_TIMEOUT = 600.0
_SAID = 240
"""Characters of what a failed contestant said that are shown."""


class Program(NamedTuple):
    """What is run."""

    python: str
    script: Path
    kind: str
    settings: dict[str, Any]


class Process:
    """A running contestant. Use `running`."""

    def __init__(self, child: asyncio.subprocess.Process, directory: Path) -> None:
        self._child = child
        self.directory = directory

    async def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """One request and its answer.

        Raises:
            Failed: if the process ended instead.
        """
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
        with contextlib.suppress(ConnectionError):
            await self._child.stdin.drain()
        return await self.answer()

    async def answer(self) -> dict[str, Any]:
        """The next line that it says.

        Raises:
            Failed: if the process ended instead.
        """
        assert self._child.stdout is not None
        line = await self._child.stdout.readline()
        if not line:
            lines = (self.directory / "stderr").read_text(errors="replace").strip().splitlines()
            raise Failed(lines[-1][:_SAID] if lines else "ended without a word")
        answer: dict[str, Any] = json.loads(line)
        return answer


@asynccontextmanager
async def running(program: Program) -> AsyncIterator[tuple[Process, dict[str, str]]]:
    """The process, once its contestant is loaded, and the versions of the contestant's packages.

    Raises:
        Failed: if the contestant is not installed.
    """
    directory = Path(tempfile.mkdtemp(prefix="claw-perf-"))
    (directory / SECRET).write_text("visible")
    (directory / "work").mkdir()
    command = [program.python, "-P", str(_SERVE), str(program.script), program.kind]
    with (directory / "stderr").open("wb") as stderr:
        child = await asyncio.create_subprocess_exec(
            *command,
            json.dumps(program.settings),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            cwd=directory / "work",
            env=_environment(directory),
            limit=_LINE_LIMIT,
            start_new_session=True,
        )
    process = Process(child, directory)
    try:
        hello = await process.answer()
        if "missing" in hello:
            raise Failed(f"not installed ({hello['missing']})", final=True)
        yield process, hello["versions"]
        await _end(child)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()
        if label := program.settings.get("label"):
            await _remove_containers(label)
        shutil.rmtree(directory, ignore_errors=True)


def _environment(home: Path) -> dict[str, str]:
    """Ours but for the home: what a user's start-up files do is no contestant's fault. Caches stay where they are."""
    quiet = {"SWE_REX_LOG_STREAM_LEVEL": "ERROR", "MSWEA_SILENT_STARTUP": "1"}
    kept = {"DOCKER_CONFIG": str(Path.home() / ".docker"), "CLAW_CACHE": str(cache_directory("."))}
    return {**kept, **os.environ, **quiet, "HOME": str(home)}


async def _end(child: asyncio.subprocess.Process) -> None:
    assert child.stdin is not None
    child.stdin.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GRACE):
            await child.wait()


async def _remove_containers(label: str) -> None:
    """Remove what carries `label`: some peers leave containers behind, or end them later."""
    with contextlib.suppress(Failed):  # one that is going already makes docker complain
        listed = await docker("ps", "--all", "--quiet", "--filter", f"label={label}")
        if listed:
            await docker("rm", "--force", *listed.split())


async def docker(*arguments: str, stdin: bytes | None = None) -> str:
    """What a docker command prints.

    Raises:
        Failed: if it fails, or there is none.
    """
    try:
        child = await asyncio.create_subprocess_exec(
            "docker",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={
                **os.environ,
                "DOCKER_BUILDKIT": "0",
            },  # a command line without its build plug-in still has the builder
        )
    except FileNotFoundError as error:
        raise Failed("no `docker` command", final=True) from error
    try:
        async with asyncio.timeout(_DOCKER_TIMEOUT):
            out, said = await child.communicate(stdin)
    except TimeoutError as error:
        child.kill()
        await child.wait()
        raise Failed(f"docker {arguments[0]} took over {_DOCKER_TIMEOUT:.0f} s", final=True) from error
    if child.returncode != 0:
        lines = said.decode(errors="replace").strip().splitlines()
        raise Failed(lines[-1][:_SAID] if lines else f"docker {arguments[0]} failed", final=True)
    return out.decode(errors="replace")
