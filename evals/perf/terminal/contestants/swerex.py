"""SWE-ReX as its tutorial uses it: a deployment, one bash session in its runtime, `run_in_session`.

`local` runs on the host, on one event loop, which its calls block. `local-threads` gives each episode a thread and each
call an event loop of its own, which its documentation does not, but programs over it do. `docker` runs `swerex-remote`
in a container and talks to it over HTTP; the image has it installed (see `evals.perf.terminal.peers`). It has threads
too: on one event loop, starts at once wait for each other until their time is over. There is no reset: it is `stop` and
a new deployment.
"""

import asyncio
import subprocess
from typing import Any

from swerex.deployment.docker import DockerDeployment
from swerex.deployment.local import LocalDeployment
from swerex.runtime.abstract import BashAction, CreateBashSessionRequest

PACKAGES = ["swe-rex"]
_PATIENT = 60.0
"""Seconds for a session to come up, in place of 1: a slow start is to be measured, not refused."""


def make(kind: str, settings: dict[str, Any]) -> Any:
    """The contestant `kind`; `settings` has the image with the server in it, and the containers' label."""
    rex = Rex(settings if kind == "docker" else None)
    return rex if kind == "local" else Threads(rex)


class Rex:
    """Deployments with one session each."""

    def __init__(self, docker: dict[str, Any] | None) -> None:
        self._docker = docker
        self._open: list[Any] = []

    async def start(self) -> Any:
        """A deployment whose session is ready."""
        if self._docker:
            arguments = ["--label", self._docker["label"]]
            deployment = DockerDeployment(image=self._docker["swerex_image"], pull="never", docker_args=arguments)
        else:
            deployment = LocalDeployment()
        await deployment.start()
        self._open.append(deployment)
        await deployment.runtime.create_session(CreateBashSessionRequest(startup_timeout=_PATIENT))
        return deployment

    async def step(self, deployment: Any, command: str) -> str:
        """One command in the session, with its exit code."""
        observation = await deployment.runtime.run_in_session(BashAction(command=command, check="silent"))
        return str(observation.output)

    async def reset(self, deployment: Any) -> Any:
        """Stop and start."""
        await self.stop(deployment)
        return await self.start()

    async def stop(self, deployment: Any) -> None:
        """Stop it."""
        self._open.remove(deployment)
        await deployment.stop()

    def containers(self) -> list[str]:
        """Those of the open deployments."""
        names = [deployment.container_name for deployment in self._open] if self._docker else []
        command = ["docker", "inspect", "--format", "{{.Id}}", *names]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() if names else []


class Threads:
    """The same for threads: each call has an event loop of its own."""

    def __init__(self, rex: Rex) -> None:
        self._rex = rex
        self.containers = rex.containers

    def start(self) -> Any:
        """See `Rex`."""
        return asyncio.run(self._rex.start())

    def step(self, deployment: Any, command: str) -> str:
        """See `Rex`."""
        return asyncio.run(self._rex.step(deployment, command))

    def reset(self, deployment: Any) -> Any:
        """See `Rex`."""
        return asyncio.run(self._rex.reset(deployment))

    def stop(self, deployment: Any) -> None:
        """See `Rex`."""
        asyncio.run(self._rex.stop(deployment))
