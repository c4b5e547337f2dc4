"""What every provider of machines does. Providers never import each other."""

from typing import NamedTuple, Protocol

from claw_envs.core.task import Task


class Lent(NamedTuple):
    """A machine for one episode, which answers."""

    url: str
    """Of its server, such as `http://10.0.0.5:5000`."""
    secret: str = ""
    """That our own server wants."""
    browser: str | None = None
    """Of the debugging port of a browser on it."""


class Provider(Protocol):
    """Lends machines, each to one episode at a time. Used on any event loop, by any number of callers."""

    web: bool
    """Whether its machines may reach the web."""

    async def lease(self, task: Task) -> Lent:
        """A machine in its first state.

        Raises:
            InfrastructureError: if there is none that answers.
            UserError: if something is missing that the user can install or start.
        """
        ...

    async def give_back(self, lent: Lent, *, failed: bool) -> None:
        """Take a machine back.

        Args:
            failed: whether it was lost, or answered wrongly.
        """
        ...
