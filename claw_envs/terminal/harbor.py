"""Tasks in Harbor's directory format, read into `Task`.

A task is a folder: `task.toml`, `instruction.md`, `environment/Dockerfile` (+ files), `solution/solve.sh` (optional),
`tests/test.sh` (+ files). Fields have Harbor's names. `[metadata]` becomes `Task.metadata`, the whole of task.toml is
kept under `Task.metadata["harbor"]`, so unknown keys survive. Two keys of `[metadata]` are ours, since Harbor counts
time only: `max_steps` and `step_timeout_sec`. Network is denied unless the file grants it. Not covered: several steps,
compose files, ready-made images, MCP servers.
"""

import math
import tomllib
from pathlib import Path
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.task import Limits, SandboxSpec, Task, VerifierSpec
from claw_envs.core.tasksets import builtin
from claw_envs.terminal.dockerfile import read_dockerfile

_PARTS = ("task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh")


def load(source: str | None = None) -> list[Task]:
    """Load tasks in Harbor's format.

    Args:
        source: a task's folder, or a folder of such folders; None is the built-in set.

    Raises:
        UserError: if there is none, or one is incomplete, malformed, or needs a container image.
    """
    root = builtin("terminal") if source is None else Path(source).expanduser()
    if not root.is_dir():
        raise UserError(f"{root}: no such folder; give a Harbor task folder, or a folder of them")
    if _is_task(root):
        return [read_task(root)]
    folders = sorted(folder for folder in root.iterdir() if folder.is_dir() and _is_task(folder))
    if not folders:
        raise UserError(f"{root}: no task there; a Harbor task is a folder with {', '.join(_PARTS)}")
    return [read_task(folder) for folder in folders]


def read_task(folder: Path) -> Task:
    """Read one task folder; the folder's name is the task's id.

    Raises:
        UserError: see `load`.
    """
    folder = folder.resolve()
    for part in _PARTS:
        if not (folder / part).is_file():
            raise UserError(f"{folder / part}: missing; task {folder.name} needs it")
    config = _Config(folder / "task.toml")
    if config.data.get("steps"):
        raise UserError(f"{config.path}: [[steps]] (several steps) is not supported; split it into tasks of one step")
    instruction = (folder / "instruction.md").read_text(encoding="utf-8").strip()
    if not instruction:
        raise UserError(f"{folder / 'instruction.md'}: empty; write what the agent is to do")
    sandbox, base = _sandbox(folder, config)
    return Task(
        id=folder.name,
        family="terminal",
        instruction=instruction,
        sandbox=sandbox,
        limits=Limits(
            max_steps=int(config.number("metadata", "max_steps", Limits().max_steps)),
            step_timeout=config.number("metadata", "step_timeout_sec", Limits().step_timeout),
            episode_timeout=config.number("agent", "timeout_sec", 600.0),
        ),
        verifier=VerifierSpec(
            kind="harbor",
            timeout=config.number("verifier", "timeout_sec", 600.0),
            options={"env": config.env("verifier")},
        ),
        path=str(folder),
        metadata=config.table("metadata") | {"base_image": base, "harbor": config.data},
    )


def _is_task(folder: Path) -> bool:
    return (folder / "task.toml").is_file() or (folder / "instruction.md").is_file()


def _sandbox(folder: Path, config: "_Config") -> tuple[SandboxSpec, str]:
    for name in ("docker-compose.yaml", "docker-compose.yml"):
        if (folder / "environment" / name).exists():
            raise UserError(f"task {folder.name} needs an image; {name} cannot be honoured without a container engine")
    recipe = read_dockerfile(folder / "environment" / "Dockerfile", task_id=folder.name)
    default = SandboxSpec()
    spec = SandboxSpec(
        workdir=recipe.workdir,
        files=recipe.files,
        setup=recipe.setup,
        env=recipe.env | config.env("environment"),
        network=_network(config),
        memory_mb=int(config.number("environment", "memory_mb", default.memory_mb)),
        disk_mb=int(config.number("environment", "storage_mb", default.disk_mb)),
        cpus=config.number("environment", "cpus", default.cpus),
    )
    return spec, recipe.base


def _network(config: "_Config") -> Any:
    table = config.table("environment")
    mode = table.get("network_mode")
    if mode is None:
        return "full" if table.get("allow_internet") is True else "none"
    if mode == "allowlist":
        return tuple(str(host) for host in table.get("allowed_hosts", ()))
    if mode not in ("no-network", "public"):
        raise UserError(
            f"{config.path}: [environment] network_mode must be no-network, public or allowlist, got {mode!r}"
        )
    return "full" if mode == "public" else "none"


class _Config:
    """task.toml with checked access; every complaint names the file, the table and the key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: not valid TOML: {error}") from None

    def table(self, name: str) -> dict[str, Any]:
        table = self.data.get(name, {})
        if not isinstance(table, dict):
            raise UserError(f"{self.path}: {name} must be a table, written as [{name}]")
        return table

    def number(self, table: str, key: str, default: float) -> float:
        value = self.table(table).get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise UserError(f"{self.path}: [{table}] {key} must be a number above 0, got {value!r}")
        return float(value)

    def env(self, table: str) -> dict[str, str]:
        values = self.table(table).get("env", {})
        if not isinstance(values, dict):
            raise UserError(f"{self.path}: [{table}.env] must be a table of strings")
        for key, value in values.items():
            if not isinstance(value, str) or "${" in value:
                raise UserError(
                    f"{self.path}: [{table}.env] {key} must be a plain string; host variables are never passed in"
                )
        return values
