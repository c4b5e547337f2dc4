"""Tasks in Harbor's folder format (task.toml up to schema_version 1.4), read into `Task`.

A task is a folder: `task.toml`, `instruction.md`, `environment/` with a Dockerfile, a compose file of one service, or
nothing where task.toml names a `docker_image`; `solution/solve.sh` (optional), `tests/test.sh` (+ files). The whole of
task.toml is kept under `Task.metadata["harbor"]`, so unknown keys survive. Two keys of `[metadata]` are ours, since
Harbor counts time only: `max_steps` and `step_timeout_sec`. Network is denied unless the file grants it. Not covered:
several steps, a verifier with a machine of its own, other users than ours, MCP servers, GPUs, Windows.
"""

import re
from pathlib import Path

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task, VerifierSpec
from claw_envs.terminal.formats.config import Config, Network, read_text, read_toml
from claw_envs.terminal.formats.spec import describe

_PARTS = ("task.toml", "instruction.md", "tests/test.sh")
_TIMEOUT = 600.0
_CANARY = re.compile(r"(?:<!--.*canary.*-->|#.*canary.*)", re.IGNORECASE)
_UNSUPPORTED = {
    "gpus": "a GPU",
    "tpu": "a TPU",
    "mcp_servers": "MCP servers",
}


def recognises(folder: Path) -> bool:
    """Whether `folder` is, or was meant to be, a task of this format."""
    return (folder / "task.toml").is_file() or (folder / "instruction.md").is_file()


def read(folder: Path) -> Task:
    """Read one task folder; the folder's name is the task's id.

    Raises:
        UserError: if it is incomplete, malformed, or asks for what is not covered.
    """
    folder = folder.resolve()
    config = read_toml(folder / "task.toml") if (folder / "task.toml").is_file() else None
    for part in _PARTS:
        if config is None or not (folder / part).is_file():
            raise UserError(f"{folder / part}: missing; task {folder.name} needs it")
    assert config is not None
    metadata, environment = config.table("metadata"), config.table("environment")
    agent, verifier = config.table("agent"), config.table("verifier")
    _check(config, environment, verifier)
    machine = describe(
        folder / "environment",
        environment,
        network=_network(environment, agent, verifier),
        scripts=sorted((folder / "tests").rglob("*.sh")),
        image=environment.text("docker_image"),
        workdir=environment.text("workdir"),
        env=environment.env(),
    )
    return Task(
        id=folder.name,
        family="terminal",
        instruction=_instruction(folder / "instruction.md"),
        sandbox=machine.spec,
        limits=metadata.limits(episode_timeout=agent.number("timeout_sec", _TIMEOUT)),
        verifier=VerifierSpec(
            kind="harbor", timeout=verifier.number("timeout_sec", _TIMEOUT), options={"env": verifier.env()}
        ),
        path=str(folder),
        metadata=metadata.data | machine.about | {"format": "harbor", "harbor": config.data},
    )


def _check(config: Config, environment: Config, verifier: Config) -> None:
    """Refuse what cannot be honoured, so that nobody takes another task's score for this one's."""
    version = config.data.get("schema_version", config.data.get("version", "1"))
    if str(version).partition(".")[0] != "1":
        raise UserError(f"{config.where} schema_version {version!r} is not known; 1.0 to 1.4 are")
    if config.data.get("steps"):
        raise UserError(f"{config.where} [[steps]] (several steps) is not supported; split it into tasks of one step")
    for key, what in _UNSUPPORTED.items():
        if environment.data.get(key):
            raise UserError(f"{environment.where} {key}: {what} cannot be given to a sandbox")
    if str(environment.data.get("os", "linux")).lower() != "linux":
        raise UserError(f"{environment.where} os must be linux, got {environment.data['os']!r}")
    if verifier.data.get("environment") or verifier.data.get("environment_mode", "shared") != "shared":
        raise UserError(f"{verifier.where} a machine of its own for the verifier is not supported")


def _network(environment: Config, agent: Config, verifier: Config) -> Network:
    """The agent's network, which is the verifier's too."""
    base = environment.network()
    granted, wanted = agent.network(default=base), verifier.network(default=base)
    enough = granted == "full" or wanted == "none" or (granted != "none" and set(wanted) <= set(granted))
    if not enough:
        raise UserError(f"{verifier.where} network_mode: the verifier cannot have more network than the agent")
    return granted


def _instruction(path: Path) -> str:
    """The text without the canary lines at its head, which mark the file for crawlers and are not for agents."""
    lines = read_text(path).strip().splitlines()
    while lines and (not lines[0].strip() or _CANARY.fullmatch(lines[0].strip())):
        del lines[0]
    if not lines:
        raise UserError(f"{path}: empty; write what the agent is to do")
    return "\n".join(lines)
