"""A task's own solution, run as the agent would: the oracle of `claw tasks validate`.

Harbor's `solution/solve.sh`, Terminal-Bench's `solution.sh`, or the commands of its `solution.yaml` one after the other
in one shell. Commands there that type keys into a running program (`block: false`) are not supported.
"""

import asyncio
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.sandbox.base import Sandbox
from claw_envs.terminal.formats.config import Config, read_toml, read_yaml
from claw_envs.terminal.verifier import packed

_TAIL = 500
_COPY_TIMEOUT = 60.0
_COMMAND_TIMEOUT = 180.0
_UNPACK = 'mkdir -p "$1" && tar -xf - --no-same-owner -C "$1"'


class _Script(NamedTuple):
    """A solution that is one script."""

    path: Path
    files: dict[str, Path]
    """What is copied in with it: name -> file or folder on the host."""
    target: str
    """Folder inside."""
    env: dict[str, str]


async def solve(sandbox: Sandbox, task: Task) -> str:
    """Run the task's solution; the tail of its log.

    Raises:
        UserError: if there is none, or it fails.
        InfrastructureError: if it cannot be copied in, or the sandbox is gone.
    """
    solution = _solution(task)
    if isinstance(solution, list):
        return await _commands(sandbox, task, solution)
    return await _script(sandbox, task, solution)


def _solution(task: Task) -> "_Script | list[Config]":
    folder = task.folder()
    script = folder / ("solution/solve.sh" if task.verifier.kind == "harbor" else "solution.sh")
    listed = folder / "solution.yaml"
    if task.verifier.kind == "terminal-bench" and not script.is_file() and listed.is_file():
        return _entries(listed)
    if not script.is_file():
        raise UserError(f"{script}: missing; without a solution the task cannot be validated")
    if task.verifier.kind == "terminal-bench":
        return _Script(script, {script.name: script}, "/oracle", {})
    env = read_toml(folder / "task.toml").table("solution").env()
    return _Script(script, {".": script.parent}, "/solution", env)


async def _script(sandbox: Sandbox, task: Task, script: _Script) -> str:
    argv = ["/bin/sh", "-c", _UNPACK, "sh", script.target]
    content = await asyncio.to_thread(packed, script.files)
    copied = await sandbox.exec(argv, timeout=_COPY_TIMEOUT, cwd="/", user="verifier", stdin=content)
    if copied.exit_code != 0:
        raise InfrastructureError(f"task {task.id}: cannot copy the solution in: {copied.output.strip()}")
    argv = ["/bin/bash", f"{script.target}/{script.path.name}"]
    result = await sandbox.exec(argv, timeout=task.limits.episode_timeout, cwd=sandbox.workdir, env=script.env)
    if result.exit_code != 0:
        how = "ran over its time" if result.timed_out else f"ended with {result.exit_code}"
        raise UserError(f"task {task.id}: {script.path.name} {how}: {result.output[-_TAIL:].strip()}")
    return result.output[-_TAIL:].strip()


async def _commands(sandbox: Sandbox, task: Task, entries: list[Config]) -> str:
    shell = await sandbox.shell()
    output = ""
    for number, entry in enumerate(entries, 1):
        command, timeout = entry.text("command"), entry.number("max_timeout_sec", _COMMAND_TIMEOUT)
        if not command or not entry.flag("block"):
            raise UserError(f"{entry.where} typed keys (`block: false`) are not supported; write a solution.sh")
        result = await shell.run(command, timeout=timeout)
        output += result.output
        if result.timed_out:
            raise UserError(f"task {task.id}: command {number} of solution.yaml ran over its {timeout:g} s")
    return output[-_TAIL:].strip()


def _entries(path: Path) -> list[Config]:
    data = read_yaml(path)
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise UserError(f"{path}: must be a list of mappings with `command`")
    return [Config(f"{path}, command {number}:", entry) for number, entry in enumerate(data, 1)]
