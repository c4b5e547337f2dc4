"""The sandbox that an environment has for its episodes: its own, reset from one to the next, or one of a pool's.

Not covered: what runs inside, which ends when the sandbox is reset or given back.
"""

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import check_backend, make_sandbox
from claw_envs.sandbox.base import Sandbox, Shell
from claw_envs.sandbox.pool import SandboxPool


class Lease:
    """At most one sandbox at a time. Use on one event loop."""

    def __init__(self, backend: str = "namespace", pool: SandboxPool | None = None) -> None:
        """
        Args:
            backend: name of the sandbox backend.
            pool: where sandboxes are taken from and given back to; None: the lease keeps its own.

        Raises:
            UserError: if there is no such backend.
        """
        check_backend(backend)
        self.backend, self._pool = backend, pool
        self.sandbox: Sandbox | None = None

    async def take(self, spec: SandboxSpec) -> Sandbox:
        """A machine of `spec` as after its start: the one at hand reset where it is of the same kind, else another.

        Raises:
            InfrastructureError: if none can be started.
            UserError: if the spec asks for something that the backend cannot do.
        """
        if self._pool is None and self.sandbox is not None and self.sandbox.spec == spec:
            try:
                await self.sandbox.reset()
                return self.sandbox
            except InfrastructureError:
                pass  # it has died: another takes its place
        await self.give_back()
        if self._pool is not None:
            self.sandbox = await self._pool.lease(spec, self.backend)
        else:
            sandbox = make_sandbox(spec, self.backend)
            await sandbox.start()
            self.sandbox = sandbox
        return self.sandbox

    async def shell(self) -> Shell:
        """A shell of the sandbox that was taken; a pool has one ready.

        Raises:
            InfrastructureError: if the sandbox is gone.
        """
        assert self.sandbox is not None, "take a sandbox first"
        return await (self._pool.shell(self.sandbox) if self._pool else self.sandbox.shell())

    async def give_back(self) -> None:
        """Let the sandbox go. May be called again."""
        sandbox, self.sandbox = self.sandbox, None
        if sandbox is not None and self._pool is not None:
            await self._pool.give_back(sandbox)
        elif sandbox is not None:
            await sandbox.close()
