"""Harbor's verifier: run the task's tests where the agent can't have tampered, read the reward file.

The agent is stopped first. Only then are the tests copied in and run in a fresh process of another user, which alone
can write the reward's directory. A verifier that crashes, runs over or leaves no readable number is infrastructure's
failure, never a score of 0.
"""

import io
import math
import tarfile
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.env import Outcome
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from claw_envs.sandbox.base import Sandbox

_LOG_TAIL = 2000
_REWARDS = "/logs/verifier"
# $1 is the working directory, which the agent may have removed; nobody else may read the tests
_RUN_TESTS = f"""rm -rf /tests {_REWARDS} && mkdir -p {_REWARDS} && mkdir -m 0700 /tests || exit 125
tar -xf - --no-same-owner -C /tests || exit 125
cd "$1" 2>/dev/null
exec /bin/bash /tests/test.sh </dev/null"""


async def verify(sandbox: Sandbox, task: Task) -> Outcome:
    """Score what the agent left in `sandbox`.

    Returns:
        The reward file's number as it is (Harbor's scores are usually in 0..1), with the rewards and the log's tail in
        the report.

    Raises:
        InfrastructureError: if the tests gave no verdict.
    """
    assert task.sandbox is not None
    await sandbox.stop_agent()
    result = await sandbox.exec(
        ["/bin/sh", "-c", _RUN_TESTS, "sh", task.sandbox.workdir],
        timeout=task.verifier.timeout,
        env=task.verifier.options.get("env"),
        cwd="/",
        user="verifier",
        stdin=packed(task.folder() / "tests"),
    )
    tail = result.output[-_LOG_TAIL:].strip()
    if result.timed_out:
        raise InfrastructureError(f"task {task.id}: verifier ran over its {task.verifier.timeout:g} s; log: {tail}")
    try:
        name, data = await _reward_file(sandbox)
        rewards = parse_rewards(name, data)
    except ValueError as error:
        raise InfrastructureError(
            f"task {task.id}: verifier gave no verdict (exit code {result.exit_code}): {error}; log: {tail}"
        ) from None
    return Outcome(rewards["reward"], {"rewards": rewards, "exit_code": result.exit_code, "log": tail})


def parse_rewards(name: str, data: bytes) -> dict[str, float]:
    """Read a reward file.

    Args:
        name: `reward.json` (a number, or an object of numbers: its `reward`, else its only one, is the score) or
            `reward.txt` (one number).

    Returns:
        The rewards by name; `reward` is always there.

    Raises:
        ValueError: if it is empty, not a number, or not finite.

    >>> parse_rewards("reward.json", b'{"reward": 0.5, "style": 1}')
    {'reward': 0.5, 'style': 1.0}
    """
    text = data.decode(errors="replace").strip()
    if not text:
        raise ValueError(f"{name} is empty")
    if name.endswith(".txt"):
        try:
            return {"reward": _number(name, float(text))}
        except ValueError:
            raise ValueError(f"{name} is not a finite number: {text[:80]!r}") from None
    try:
        value: Any = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"{name} is not JSON: {error}") from None
    if not isinstance(value, dict):
        return {"reward": _number(name, value)}
    rewards = {key: _number(f"{name}, {key!r}", entry) for key, entry in value.items()}
    if "reward" not in rewards and len(rewards) != 1:
        raise ValueError(f"{name} has no 'reward' and not exactly one number")
    return rewards if "reward" in rewards else rewards | {"reward": next(iter(rewards.values()))}


def packed(folder: Path) -> bytes:
    """The files of `folder` as a tar archive whose entries belong to nobody in particular."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        entry.uid = entry.gid = 0
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return None if "__pycache__" in entry.name else entry

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(folder, arcname=".", filter=plain)
    return buffer.getvalue()


async def _reward_file(sandbox: Sandbox) -> tuple[str, bytes]:
    for name in ("reward.json", "reward.txt"):
        try:
            return name, await sandbox.get(f"{_REWARDS}/{name}", max_bytes=100_000)
        except FileNotFoundError:
            continue
        except OSError as error:  # a folder, a device
            raise ValueError(str(error)) from None
    raise ValueError(f"no reward.json or reward.txt in {_REWARDS}")


def _number(where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{where} is not a finite number: {value!r}")
    return float(value)
