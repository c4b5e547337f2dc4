"""`EnvironmentHost`: a Ray actor that holds a share of a run's environments, behind an environment server on its node.

Its clients speak to the server, not to the actor: no step passes through Ray, and a client that goes away is noticed by
its lease. What goes between nodes is not encrypted. Not covered: episodes outliving their host.
"""

from dataclasses import dataclass, field
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.loop import run_sync
from claw_envs.server import wire
from claw_envs.server.client import Servers
from claw_envs.server.leases import Leases
from claw_envs.server.offer import Offer
from claw_envs.server.serve import BackgroundServer

_LEASE_SECONDS = 60.0  # until a lost client's environment closes


@dataclass(frozen=True, kw_only=True)
class HostSettings:
    """What a host is started with, and started with again after it died."""

    family: str
    env: dict[str, Any]
    """The run's [env]."""
    capacity: int
    """Environments at once."""
    digest: str
    """Of the tasks that the driver has."""
    key: str = field(repr=False)
    """The servers' API key."""


class EnvironmentHost:
    """The actor. Its constructor does nothing that may fail: Ray tells errors of a method as they are."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings
        self._server: BackgroundServer | None = None
        self._stopped = False

    def node(self) -> str:
        """Address of the node that this runs on."""
        import ray

        this = ray.get_runtime_context().get_node_id()
        return next(str(node["NodeManagerAddress"]) for node in ray.nodes() if node["NodeID"] == this)

    def server(self) -> Servers:
        """The server, which is begun if it does not run: then an episode is begun first.

        Raises:
            UserError: if this node cannot have such an environment, or has other tasks than the driver.
            InfrastructureError: if an episode cannot be begun, or the run is over.
        """
        if self._stopped:
            raise InfrastructureError("the run's environments were closed")
        if self._server is None:
            try:
                self._server = self._serve()
            except (UserError, InfrastructureError) as error:
                kind = UserError if isinstance(error, UserError) else InfrastructureError
                raise kind(f"environments on {self.node()}: {error}") from None
        return Servers([self._server.url], self._settings.key)

    def _serve(self) -> BackgroundServer:
        settings = self._settings
        offer = Offer(families=[settings.family], fixed=settings.env)
        described = run_sync(offer.describe(wire.Wanted(family=settings.family)))
        if described.digest != settings.digest:
            raise UserError("the tasks there are not those of the driver: give every node the same files and version")
        run_sync(offer.prove())
        leases = Leases(most=settings.capacity, most_running=settings.capacity, ttl=_LEASE_SECONDS)
        return BackgroundServer(offer, leases, host=self.node(), key=settings.key)

    def stop(self) -> None:
        """Close every environment, for good. May be called again."""
        self._stopped = True
        if self._server is not None:
            self._server.stop()
