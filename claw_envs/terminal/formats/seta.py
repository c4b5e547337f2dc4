"""JSONL files that name task folders and say more about them, as SETA's sets do: one task a row.

A row names its folder, in Harbor's or Terminal-Bench's format, by `task_path` or `path`, relative to the file, or by
its id alone, which is then the name of a folder beside the file or in `tasks/` there. `task_id` or `id` is the task's
id. What else a row may state goes before what the folder says: `instruction`, `difficulty`, `max_steps`,
`step_timeout_sec`, `max_agent_timeout_sec`, `max_test_timeout_sec`, `network_mode` with `allowed_hosts`, `cpus`,
`memory_mb`, `storage_mb`. The whole row is kept under `Task.metadata["row"]`.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.terminal.formats import read_task
from claw_envs.terminal.formats.config import Config

_FOLDER_KEYS = ("task_path", "path")
_ID_KEYS = ("task_id", "id")


class Row(NamedTuple):
    """One line of a file."""

    path: Path
    number: int
    line: bytes


def rows(path: Path) -> list[Row]:
    """The lines of the file at `path` that are not blank."""
    return [Row(path, number, line) for number, line in enumerate(path.read_bytes().splitlines(), 1) if line.strip()]


def read(row: Row) -> Task:
    """The task that `row` names and changes.

    Raises:
        UserError: if the row or the folder is wrong.
    """
    where = f"{row.path}, line {row.number}:"
    try:
        config = Config(where, msgspec.json.decode(row.line, type=dict[str, Any]))
    except msgspec.DecodeError as error:
        raise UserError(f"{where} not a JSON object ({error})") from None
    task_id = next((config.text(key) for key in _ID_KEYS if config.data.get(key)), None)
    task = read_task(_folder(config, task_id, row.path.parent))
    assert task.sandbox is not None
    limits = task.limits
    stated = {key: config.data[key] for key in ("difficulty",) if key in config.data}
    return msgspec.structs.replace(
        task,
        id=task_id or task.id,
        instruction=config.text("instruction") or task.instruction,
        limits=msgspec.structs.replace(
            limits,
            max_steps=max(1, int(config.number("max_steps", limits.max_steps))),
            step_timeout=config.number("step_timeout_sec", limits.step_timeout),
            episode_timeout=config.number("max_agent_timeout_sec", limits.episode_timeout),
        ),
        verifier=msgspec.structs.replace(
            task.verifier, timeout=config.number("max_test_timeout_sec", task.verifier.timeout)
        ),
        sandbox=msgspec.structs.replace(
            task.sandbox, network=config.network(default=task.sandbox.network), **config.resources(task.sandbox)
        ),
        metadata=task.metadata | stated | {"row": config.data},
    )


def _folder(config: Config, task_id: str | None, base: Path) -> Path:
    for key in _FOLDER_KEYS:
        if name := config.text(key):
            return base / os.path.expanduser(name)  # which takes `~nobody` as it stands
    if task_id is None:
        raise UserError(f"{config.where} names no task; give `task_path` (a folder) or `task_id`")
    places = [base / task_id, base / "tasks" / task_id]
    return next((place for place in places if place.is_dir()), places[0])
