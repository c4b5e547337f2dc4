"""Isolated machines for episodes: one Protocol (`base`), one module a backend."""

from importlib import import_module

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.base import ExecResult, Sandbox, Shell, Terminal

__all__ = ["BACKENDS", "ExecResult", "Sandbox", "Shell", "Terminal", "check_backend", "make_sandbox"]

BACKENDS = {
    "namespace": "claw_envs.sandbox.namespace.backend:NamespaceSandbox",
    "docker": "claw_envs.sandbox.docker.backend:DockerSandbox",
    "local": "claw_envs.sandbox.local:LocalSandbox",
}
"""Names of the backends and where their code is. `local` isolates nothing."""


def check_backend(backend: str) -> None:
    """Make sure that there is a backend of this name.

    Raises:
        UserError: if there is none.
    """
    if backend not in BACKENDS:
        raise UserError(f"no sandbox backend `{backend}`: use {', '.join(BACKENDS)}")


def make_sandbox(spec: SandboxSpec, backend: str = "namespace") -> Sandbox:
    """A sandbox that is not yet started.

    Args:
        spec: the machine.
        backend: one of `BACKENDS`.

    Raises:
        UserError: if there is no such backend.
    """
    check_backend(backend)
    module, name = BACKENDS[backend].split(":")
    sandbox: Sandbox = getattr(import_module(module), name)(spec)
    return sandbox
