"""What an agent is asked to do, where, within which limits, and how it is verified.

Loaders turn public formats into `Task`; environments read nothing else. Host paths are kept as strings so that a task
survives msgpack and JSON.
"""

from pathlib import Path
from typing import Any, Literal

import msgspec

from claw_envs.core.errors import UserError


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one episode."""

    max_steps: int = 10
    """Agent messages before the episode is truncated (it is still scored)."""
    step_timeout: float = 20.0
    """Seconds that one agent action may take; what is over is stopped and told to the agent."""
    episode_timeout: float = 600.0
    """Seconds spent in the environment until the episode is truncated; waiting for the agent is free."""


class SandboxSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The machine that a task runs in. Everything not granted here is denied."""

    image: str | None = None
    """Container image by name; where nothing of `image`, `build` and `rootfs` is given, the host's own system serves,
    read-only."""
    build: str | None = None
    """Host folder with a `Dockerfile`, in place of a ready image: built once, known by its content."""
    rootfs: str | None = None
    """Host directory that holds a root file system, in place of an image."""
    layers: tuple[str, ...] = ()
    """Host directories, each a tree from `/`, laid read-only over that root, the last one topmost; namespace only."""
    workdir: str = "/app"
    """Made where it is missing; empty: the image's own, `/` where it has none."""
    files: dict[str, str] = {}
    """Target path inside -> host path of a file or directory to copy there before the episode."""
    setup: tuple[str, ...] = ()
    """Shell commands run inside, once, before the agent's first step."""
    env: dict[str, str] = {}
    network: Literal["none", "full"] | tuple[str, ...] = "none"
    """`none`, `full`, or the hosts that are allowed."""
    memory_mb: int = 1024
    pids: int = 128
    cpus: float = 1.0
    disk_mb: int = 512
    output_bytes: int = 64_000
    """Bytes of one command's output that are kept (head and tail)."""

    def __post_init__(self) -> None:
        if self.network not in ("none", "full") and not isinstance(self.network, tuple):
            raise UserError(f"network must be 'none', 'full' or a tuple of hosts, got {self.network!r}")


class VerifierSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How the outcome is decided once the episode has ended."""

    kind: str
    """`harbor` (a test script that writes a reward file), `terminal-bench` (a test script whose log is read), `answer`
    (a final answer is compared), `bfcl` (calls are compared), `swebench` (a repository's hidden tests), `webapp` (an
    application's state is read), `miniwob` (the page gives its reward), `osworld` (an evaluator looks at the machine)
    or `simulator` (the simulated user decides)."""
    timeout: float = 60.0
    """Seconds; a verifier that runs over is an infrastructure failure, never the agent's."""
    options: dict[str, Any] = {}


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task of one family.

    >>> Task(id="hello", family="terminal", instruction="Create hello.txt", verifier=VerifierSpec(kind="harbor")).id
    'hello'
    """

    id: str
    family: str
    instruction: str
    verifier: VerifierSpec
    limits: Limits = Limits()
    sandbox: SandboxSpec | None = None
    path: str | None = None
    """Folder of the task on the host, where its format keeps one."""
    metadata: dict[str, Any] = {}

    def folder(self) -> Path:
        """The task's folder on the host.

        Raises:
            ValueError: if the task did not come from a folder.
        """
        if self.path is None:
            raise ValueError(f"task {self.id} has no folder")
        return Path(self.path)
