"""Finding a run's environment hosts from any of its processes: by name, and again after one was restarted elsewhere."""

import asyncio
import logging
from functools import lru_cache

import ray
from ray.exceptions import RayError, RayTaskError

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.server.client import Servers

log = logging.getLogger("trainers.ray")

NAMESPACE = "claw"
_PROMPT_SECONDS = 1.0  # in which a host answers that is up
_RESTART_SECONDS = 300.0


def host_name(number: int) -> str:
    """Name of a host's actor: several runs may share a cluster, and all processes of one are of one job."""
    return f"claw-environments-{ray.get_runtime_context().get_job_id()}-{number}"


def own_error(error: RayTaskError) -> Exception:
    """The error as the actor raised it, where it is one of ours; else Ray's, which shows the traceback there."""
    cause = error.cause
    return cause if isinstance(cause, UserError | InfrastructureError) else error


@lru_cache
def hosts(count: int) -> "Hosts":
    """The run's hosts, once a process."""
    return Hosts(count)


class Hosts:
    """Finds the servers of the hosts that answer; used on the shared loop only."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._asked: dict[int, asyncio.Task[Servers | None]] = {}

    async def __call__(self) -> Servers:
        """The servers that are up; where there is none, wait for the first.

        Raises:
            InfrastructureError: if every host has failed, or none comes up.
        """
        asked = [self._ask(number) for number in range(self._count)]
        await asyncio.wait(asked, timeout=_PROMPT_SECONDS)
        try:
            async with asyncio.timeout(_RESTART_SECONDS):
                while not (found := [server for task in asked if task.done() and (server := task.result())]):
                    waiting = [task for task in asked if not task.done()]
                    if not waiting:
                        raise InfrastructureError("no environment host of this run can be used: see the warnings")
                    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise InfrastructureError(f"no environment host has answered within {_RESTART_SECONDS:g} s") from None
        return Servers([url for server in found for url in server.urls], found[0].key)

    def _ask(self, number: int) -> "asyncio.Task[Servers | None]":
        """The question that still waits for its answer, as while the host restarts, or a new one."""
        if number not in self._asked or self._asked[number].done():
            self._asked[number] = asyncio.create_task(_server(host_name(number)))
        return self._asked[number]


async def _server(name: str) -> Servers | None:
    """The server of that host; None if it cannot be used, which goes to the log."""
    try:
        actor = await asyncio.to_thread(ray.get_actor, name, NAMESPACE)
        server: Servers = await actor.server.remote()
    except (RayError, ValueError) as error:  # it failed or died; or there is none of this name
        said = own_error(error) if isinstance(error, RayTaskError) else error
        log.warning("%s cannot be used: %s", name, said)
        return None
    return server
