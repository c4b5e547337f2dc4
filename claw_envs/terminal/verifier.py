"""The verdict: run the task's tests where the agent can't have tampered, and read what they say.

The agent is stopped first. Only then are the tests copied to `/tests` and run in a fresh process of another user, which
alone can write the reward's directory. What says the verdict is the format's: a reward file (`harbor`), or the tests'
log (`terminal-bench`). A verifier that crashes, runs over or gives no readable verdict is infrastructure's failure,
never a score of 0; its log is kept with the error.

Not covered: what a test itself runs out of the agent's folders. A `python -m pytest` in the working directory imports
what lies there, as it would anywhere; tests that must not say `python -P -m pytest` or run a program of their own.
"""

import asyncio
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from claw_envs.core.env import Outcome
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from claw_envs.sandbox.base import ExecResult, Sandbox
from claw_envs.terminal.formats.parsers import Counts, ctrf_counts, parse, pytest_counts
from claw_envs.terminal.formats.rewards import parse_rewards
from claw_envs.terminal.formats.terminal_bench import TEST_DIR

LOG_LENGTH = 16_000
"""Characters of the verifier's log that are kept, from its end."""
_REWARDS = "/logs/verifier"
_CTRF_BYTES = 4_000_000
# $1 is the working directory, which the agent may have removed, $2 the script; nobody else may read the tests
_RUN_TESTS = f"""rm -rf {TEST_DIR} {_REWARDS} && mkdir -p {_REWARDS} && mkdir -m 0700 {TEST_DIR} || exit 125
tar -xf - --no-same-owner -C {TEST_DIR} && chmod 0700 {TEST_DIR} || exit 125
cd "$1" 2>/dev/null
exec /bin/bash "{TEST_DIR}/$2" </dev/null"""
_PYTEST_CONFIG = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")


async def verify(sandbox: Sandbox, task: Task) -> Outcome:
    """Score what the agent left in `sandbox`.

    Returns:
        The score and a report with `log` (its last `LOG_LENGTH` characters) and `exit_code`; `passed` and `total` where
        the tests said how many there were. For `harbor` the score is the reward file's number as it is (usually in
        0..1), all rewards in the report; for `terminal-bench` 1 if every test passed, else 0, each test's result in
        the report.

    Raises:
        InfrastructureError: if the tests gave no verdict.
    """
    await sandbox.stop_agent()
    return await _VERIFIERS[task.verifier.kind](sandbox, task)


async def _harbor(sandbox: Sandbox, task: Task) -> Outcome:
    tests = task.folder() / "tests"
    result = await _run(sandbox, task, {".": tests}, "test.sh", task.verifier.options.get("env"))
    try:
        name, data = await _reward_file(sandbox)
        rewards = parse_rewards(name, data)
    except ValueError as error:
        raise _no_verdict(task, result, str(error)) from None
    report = {"rewards": rewards, "exit_code": result.exit_code, "log": _kept(result)}
    counts = await _ctrf(sandbox) or _counts_in_log(result.output, tests / "test.sh", rewards["reward"])
    return Outcome(rewards["reward"], report | (counts._asdict() if counts else {}))


async def _terminal_bench(sandbox: Sandbox, task: Task) -> Outcome:
    files = {".": task.folder() / "tests", "run-tests.sh": task.folder() / "run-tests.sh"}
    result = await _run(sandbox, task, files, "run-tests.sh", {"TEST_DIR": TEST_DIR})
    try:
        results = parse(task.verifier.options["parser"], result.output)
    except ValueError as error:
        raise _no_verdict(task, result, str(error)) from None
    passed = sum(results.values())
    report = {"tests": results, "passed": passed, "total": len(results), "exit_code": result.exit_code}
    return Outcome(float(passed == len(results)), report | {"log": _kept(result)})


_VERIFIERS = {"harbor": _harbor, "terminal-bench": _terminal_bench}


async def _run(
    sandbox: Sandbox, task: Task, files: Mapping[str, Path], script: str, env: dict[str, str] | None
) -> ExecResult:
    content = await asyncio.to_thread(packed, files, shielded=True)
    result = await sandbox.exec(
        ["/bin/sh", "-c", _RUN_TESTS, "sh", sandbox.workdir, script],
        timeout=task.verifier.timeout,
        env=env,
        cwd="/",
        user="verifier",
        stdin=content,
    )
    if result.timed_out:
        raise InfrastructureError(
            f"task {task.id}: verifier ran over its {task.verifier.timeout:g} s; log: {_kept(result)}"
        )
    return result


def _no_verdict(task: Task, result: ExecResult, why: str) -> InfrastructureError:
    return InfrastructureError(
        f"task {task.id}: verifier gave no verdict (exit code {result.exit_code}): {why}; log: {_kept(result)}"
    )


def _kept(result: ExecResult) -> str:
    return result.output.strip()[-LOG_LENGTH:]


def packed(files: Mapping[str, Path], *, shielded: bool = False) -> bytes:
    """A tar archive whose entries belong to nobody in particular.

    Args:
        files: name in the archive -> file or folder on the host; one that does not exist is left out.
        shielded: adds an empty pytest.ini where nothing at the top configures pytest, so that it takes neither
            settings nor a conftest.py from the folders above, which are the agent's.
    """

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        entry.uid = entry.gid = 0
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return None if "__pycache__" in entry.name else entry

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, path in files.items():
            if path.exists():
                archive.add(path, arcname=name, filter=plain)
        if shielded and not any(_configures_pytest(path / name) for path in files.values() for name in _PYTEST_CONFIG):
            archive.addfile(tarfile.TarInfo("./pytest.ini"))
    return buffer.getvalue()


def _configures_pytest(path: Path) -> bool:
    return path.is_file() and b"pytest" in path.read_bytes()


async def _reward_file(sandbox: Sandbox) -> tuple[str, bytes]:
    for name in ("reward.json", "reward.txt"):
        try:
            return name, await sandbox.get(f"{_REWARDS}/{name}", max_bytes=100_000)
        except FileNotFoundError:
            continue
        except OSError as error:  # a folder, a device
            raise ValueError(str(error)) from None
    raise ValueError(f"no reward.json or reward.txt in {_REWARDS}")


async def _ctrf(sandbox: Sandbox) -> Counts | None:
    try:
        data = await sandbox.get(f"{_REWARDS}/ctrf.json", max_bytes=_CTRF_BYTES)
        return ctrf_counts(msgspec.json.decode(data))
    except (OSError, msgspec.DecodeError, RecursionError):  # a help, not the verdict
        return None


def _counts_in_log(log: str, script: Path, reward: float) -> Counts | None:
    """Only where the tests are pytest's, and agree with the reward: programs under test print into the log, too."""
    counts = pytest_counts(log) if "pytest" in script.read_text(encoding="utf-8", errors="replace") else None
    return counts if counts and (counts.passed == counts.total) == (reward >= 1.0) else None
