"""verifiers: a runtime an episode, and a new Python in it for each call, which is how its harnesses run code.

`subprocess`: on the host, in a directory of the episode's. `docker`: `docker exec` into a container. It has no time
limit for a call: who calls cancels, which kills what it can. There is no reset: it is `stop` and a new runtime.
"""

import asyncio
import os
import sys
from typing import Any

from verifiers.v1.runtimes import DockerConfig, SubprocessConfig, make_runtime

PACKAGES = ["verifiers"]


def make(kind: str, settings: dict[str, Any]) -> "Verifiers":
    """The contestant `kind`; `settings` has the time limit of a call in seconds and the containers' image."""
    if kind == "docker":
        os.environ["VF_RUN_ID"] = settings["label"].partition("=")[2]  # its containers carry it
        return Verifiers(DockerConfig(image=settings["image"]), "python3", settings["limit"])
    return Verifiers(SubprocessConfig(), sys.executable, settings["limit"])


class Verifiers:
    """Runtimes of one kind."""

    def __init__(self, config: Any, python: str, limit: float) -> None:
        self._config, self._python, self._limit = config, python, limit
        self._containers: set[str] = set()

    async def start(self) -> Any:
        """A started runtime."""
        runtime = make_runtime(self._config)
        await runtime.start()
        if self._config.type == "docker":
            self._containers.add(runtime.info.id)
        return runtime

    async def step(self, runtime: Any, code: str) -> str:
        """A new Python."""
        try:
            async with asyncio.timeout(self._limit):
                result = await runtime.run([self._python, "-c", code], {})
        except TimeoutError:
            return "stopped"
        return f"{result.stdout}{result.stderr}"

    async def reset(self, runtime: Any) -> Any:
        """Stop and start."""
        await self.stop(runtime)
        return await self.start()

    async def stop(self, runtime: Any) -> None:
        """Stop it."""
        self._containers.discard(runtime.info.id)
        await runtime.stop()

    def containers(self) -> list[str]:
        """Those of the open runtimes."""
        return sorted(self._containers)
