"""Isolated machines for episodes: one Protocol (`base`), one module a backend."""

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.base import ExecResult, Sandbox, Shell, Terminal

__all__ = ["ExecResult", "Sandbox", "Shell", "Terminal", "make_sandbox"]


def make_sandbox(spec: SandboxSpec, backend: str = "namespace") -> Sandbox:
    """A sandbox that is not yet started.

    Args:
        spec: the machine.
        backend: `namespace`, `docker`, or `local` (no isolation at all).

    Raises:
        UserError: if there is no such backend.
    """
    if backend == "namespace":
        from claw_envs.sandbox.namespace.backend import NamespaceSandbox

        return NamespaceSandbox(spec)
    if backend == "docker":
        from claw_envs.sandbox.docker.backend import DockerSandbox

        return DockerSandbox(spec)
    if backend == "local":
        from claw_envs.sandbox.local import LocalSandbox

        return LocalSandbox(spec)
    raise UserError(f"no sandbox backend `{backend}`: use namespace, docker or local")
