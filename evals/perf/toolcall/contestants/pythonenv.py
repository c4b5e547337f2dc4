"""verifiers' `PythonEnv` (until 0.3.0): a persistent Python in one of a hosted service's sandboxes.

The service needs an account and the network, so its part is played here by processes on this host: a sandbox is the
start command that the environment asks for, and a command in it is a `bash -c`. What is measured is thus the tool
without the service's latency and without its isolation. The worker's files, which have fixed names in the sandbox's
`/tmp`, lie in a directory of the episode's. There is no reset: it is the end of a sandbox and a new one.
"""

import asyncio
import itertools
import logging
import os
import shlex
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import verifiers as vf
from datasets import Dataset, disable_progress_bars
from prime_sandboxes import CommandTimeoutError

PACKAGES = ["verifiers"]
_FILES = ("_WORKER_PATH", "_WORKER_PID_FILE", "_COMMAND_FIFO", "_RESPONSE_FIFO", "_READY_FLAG")


def make(kind: str, settings: dict[str, Any]) -> "PythonEnv":
    """The contestant; `settings` has the most episodes at once and the time limit of a call in seconds."""
    disable_progress_bars()
    logging.disable(logging.ERROR)
    return PythonEnv(settings["episodes"], settings["limit"])


class Answer(NamedTuple):
    """What the service says of a command."""

    stdout: str
    stderr: str
    exit_code: int


class Service:
    """As much of the hosted service's client as the environment calls."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._running: dict[str, asyncio.subprocess.Process] = {}
        home = Path(tempfile.mkdtemp(dir=".")).absolute()
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        (home / ".profile").write_text(f"export PATH={shlex.quote(path)}\n")  # the commands use login shells
        self._env = {**os.environ, "HOME": str(home), "PATH": path}

    async def create(self, request: Any) -> Any:
        """Run the start command."""
        name = f"sandbox-{next(self._numbers)}"
        self._running[name] = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", request.start_command, env=self._env, start_new_session=True
        )
        return type("Sandbox", (), {"id": name})

    async def wait_for_creation(self, name: str) -> None:
        """It is there at once."""

    async def execute_command(
        self, name: str, command: str, working_dir: str | None = None, timeout: float | None = None
    ) -> Answer:
        """Run a command, and kill it at the time limit."""
        child = await asyncio.create_subprocess_exec(
            "/bin/bash",
            "-c",
            command,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=working_dir,
            env=self._env,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(timeout):
                out, said = await child.communicate()
        except TimeoutError as error:
            os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
            raise CommandTimeoutError(name, command, timeout) from error
        return Answer(out.decode(), said.decode(), child.returncode or 0)

    async def delete(self, name: str) -> None:
        """End what the start command started."""
        child = self._running.pop(name)
        os.killpg(child.pid, signal.SIGKILL)
        await child.wait()

    def teardown(self) -> None:
        """Nothing is kept open."""


class Episode(NamedTuple):
    """An environment with the one sandbox of its one rollout."""

    env: Any
    state: Any


class PythonEnv:
    """An environment an episode, because the names of its files belong to the class; one would serve them all.

    That is why environments are made before anything is measured, and used again.
    """

    def __init__(self, episodes: int, limit: float) -> None:
        dataset = Dataset.from_list([{"question": "Measure.", "answer": "2"}])
        self._service = Service()
        self._free = [self._environment(dataset, int(limit)) for _ in range(episodes)]

    def _environment(self, dataset: Any, limit: int) -> Any:
        directory = tempfile.mkdtemp(dir=".")
        names = {name: os.path.abspath(f"{directory}/{name.strip('_').lower()}") for name in _FILES}
        local = type("Local", (vf.PythonEnv,), names)
        env = local(pip_install_packages="", dataset=dataset, timeout_per_command_seconds=limit)
        env.sandbox_client.teardown()
        env.sandbox_client = self._service
        return env

    async def start(self) -> Episode:
        """A sandbox whose worker has answered."""
        env = self._free.pop()
        episode = Episode(env, await env.setup_state(vf.State()))
        await self.step(episode, "")
        return episode

    async def step(self, episode: Episode, code: str) -> str:
        """One call."""
        state = episode.state
        return str(await episode.env.python(code, state["sandbox_id"], state["sandbox_state"], state["python_state"]))

    async def reset(self, episode: Episode) -> Episode:
        """Stop and start."""
        await self.stop(episode)
        return await self.start()

    async def stop(self, episode: Episode) -> None:
        """Delete the sandbox."""
        await episode.env.destroy_sandbox(episode.state)
        self._free.append(episode.env)

    def containers(self) -> list[str]:
        """None."""
        return []
