"""Environments on the cluster, outside the processes of engines: hosts that this starts, or environment servers.

The driver starts the hosts and stops them; what runs episodes, on whichever node, makes its environments by `make_env`.
Ray restarts a host that dies: its episodes are aborted, to be tried again, and it is found again where it is then.
"""

import secrets
import time
from types import TracebackType
from typing import Any, Self

from claw_envs import make
from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import InfrastructureError, UserError
from trainers import plugins
from trainers.config import Config

_PLACE_SECONDS = 300.0
_BEGIN_SECONDS = 1800.0  # an image may have to be built first
_STOP_SECONDS = 120.0
_ABANDON_SECONDS = 5.0


class Environments:
    """The hosts of a run; a context manager that stops them."""

    def __init__(self, hosts: list[Any]) -> None:
        self.hosts = hosts
        """Handles of the actors, `EnvironmentHost`."""

    def stop(self, *, seconds: float = _STOP_SECONDS) -> None:
        """Close all environments and end the hosts. May be called again.

        Args:
            seconds: until a host is killed that has not closed its own.
        """
        hosts, self.hosts = self.hosts, []
        if not hosts:
            return
        import ray

        if not ray.is_initialized():
            return  # and they ended with it
        stops = {host.stop.remote(): host for host in hosts}
        stopped, late = ray.wait(list(stops), num_returns=len(hosts), timeout=seconds)
        for stop in late:
            ray.kill(stops[stop])
        ends = [stops[stop].__ray_terminate__.options(max_task_retries=0).remote() for stop in stopped]
        ray.wait(ends, num_returns=len(ends), timeout=seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_environments(config: Config, *, parallel: int | None = None) -> Environments:
    """In the driver, once Ray is up: start the run's hosts, `cluster.env_actors`, and wait until each has begun an
    episode; or ask the servers of `cluster.env_servers` whether they have the same tasks.

    Args:
        parallel: environments that all processes of the run make together; None for `rollout.parallel`.

    Raises:
        UserError: if [env] is wrong, the cluster has no room, a node lacks something, or tasks differ.
        InfrastructureError: if an episode cannot be begun. Nothing is left running then.
    """
    cluster = config.cluster
    if cluster.env_actors and (cluster.env_servers or "server" in config.env):
        raise UserError("cluster.env_actors, cluster.env_servers and server in [env] exclude each other: choose one")
    if cluster.env_servers:
        _check_servers(config)
    if not cluster.env_actors:
        return Environments([])
    environments = Environments(_create(config, parallel or config.rollout.parallel))
    try:
        _await_all(environments.hosts, config)
    except BaseException:
        environments.stop(seconds=_ABANDON_SECONDS)
        raise
    return environments


def make_env(config: Config, *, like: ClawEnv | None = None) -> ClawEnv:
    """One environment of the run, wherever it lives. Blocks: call it in a thread.

    Args:
        like: one that was made before, to ask for the task set once.

    Raises:
        UserError: if `[env]` is wrong, or what a server does not offer.
        InfrastructureError: if no host of the run answers.
    """
    settings: dict[str, Any] = {"described": getattr(like, "described", None)}
    if config.cluster.env_servers:
        settings |= config.env | {"server": config.cluster.env_servers}
    elif config.cluster.env_actors:
        from trainers.ray.find import hosts

        settings |= {"server": hosts(config.cluster.env_actors)}
    else:
        return plugins.make_env(config)
    return make.make_env(config.family, settings, said="[env]")


def _create(config: Config, parallel: int) -> list[Any]:
    import ray

    from claw_envs.server.offer import task_set
    from trainers.ray.find import NAMESPACE, host_name
    from trainers.ray.host import EnvironmentHost, HostSettings

    env = plugins.make_env(config)
    env.close()
    count = config.cluster.env_actors
    settings = HostSettings(
        family=env.family,
        env=config.env,
        capacity=-(-parallel // count),
        digest=task_set(env.tasks).digest,
        key=secrets.token_urlsafe(32),
    )
    options = {
        "namespace": NAMESPACE,
        "num_cpus": config.cluster.env_cpus,
        "scheduling_strategy": "SPREAD",
        "max_restarts": -1,
        "max_task_retries": -1,  # a question to a host that died is answered by its successor
    }
    actor = ray.remote(EnvironmentHost)
    return [actor.options(name=host_name(number), **options).remote(settings) for number in range(count)]


def _await_all(hosts: list[Any], config: Config) -> None:
    count, cores = len(hosts), config.cluster.env_cpus
    room = f"Ray has no room for {count} environment hosts of {cores:g} cores: lower cluster.env_actors or env_cpus"
    _await([host.node.remote() for host in hosts], seconds=_PLACE_SECONDS, late=UserError(room))
    late = InfrastructureError(f"an environment host has begun no episode within {_BEGIN_SECONDS:g} s")
    _await([host.server.remote() for host in hosts], seconds=_BEGIN_SECONDS, late=late)


def _await(waiting: list[Any], *, seconds: float, late: Exception) -> None:
    """Wait for all; the first error ends it, as what the actor raised."""
    import ray
    from ray.exceptions import RayTaskError

    from trainers.ray.find import own_error

    deadline = time.monotonic() + seconds
    while waiting:
        ready, waiting = ray.wait(waiting, timeout=max(0.0, deadline - time.monotonic()))
        if not ready:
            raise late
        try:
            ray.get(ready)
        except RayTaskError as error:
            raise own_error(error) from None


def _check_servers(config: Config) -> None:
    from claw_envs.server.offer import task_set

    urls = config.cluster.env_servers
    sets = [make.make_env(config.family, config.env | {"server": url}, said="[env]").tasks for url in urls]
    if len({task_set(tasks).digest for tasks in sets}) > 1:
        raise UserError(f"cluster.env_servers: {', '.join(urls)} have different tasks; start them with the same")
