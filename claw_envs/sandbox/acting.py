"""What families have in common whose agents act by calls in a sandbox: the calls of a message are carried out in order,
each is answered by a header line and a text, and files are written as the agent."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec

from claw_envs.core.episode import Observation
from claw_envs.core.results import Asked, Result, not_run, shown
from claw_envs.sandbox.base import ExecResult, Sandbox
from claw_envs.wire.calls import Malformed
from claw_envs.wire.toolset import Call, Toolset

T = TypeVar("T", bound=msgspec.Struct)
# the agent may have removed its working directory, $2
_WRITE = 'case $1 in /*) ;; *) cd -- "$2" || exit ;; esac; mkdir -p -- "$(dirname -- "$1")" && cat > "$1"'


async def carry_out(
    calls: Sequence[Call[T]], do: Callable[[T, float], Awaitable[Result]], *, limit: float, last: type[T]
) -> list[Result]:
    """Carry out the calls of one message: one result each.

    Args:
        do: carries out one within some seconds.
        limit: seconds for all of them together.
        last: the tool that ends the episode; nothing is done after it.
    """
    deadline = time.monotonic() + limit
    results: list[Result] = []
    ended = False
    for call in calls:
        left = deadline - time.monotonic()
        if isinstance(call.tool, Malformed):
            results.append(not_run(call.tool.problem))
        elif ended:
            results.append(not_run("the task was already submitted"))
        elif left <= 0:
            results.append(not_run("this message's time was used up; send it again"))
        else:
            results.append(await do(call.tool, left))
            ended = isinstance(call.tool, last)
    return results


def observation(
    toolset: Toolset[T], calls: Sequence[Call[T]], results: Sequence[Result], *, ended: bool
) -> Observation:
    """What the agent is shown after a message, one result a call.

    Args:
        ended: whether the message ended the episode.
    """
    return shown(
        [Asked(toolset.name_of(call), call.id) for call in calls],
        results,
        role="tool" if ended or any(result.ran for result in results) else "environment",
        answers=any(call.id for call in calls),
    )


def command_result(result: ExecResult, *, timeout: float) -> Result:
    """A command that ran to its end, or to its `timeout` (seconds)."""
    code = "no exit code" if result.exit_code is None else f"exit {result.exit_code}"
    parts = [f"stopped after {timeout:.3g} s" if result.timed_out else code, result.cwd]
    if result.truncated_bytes:
        parts.append(f"{result.truncated_bytes} bytes cut")
    return Result(" | ".join(parts), result.output, result.exit_code)


async def write_file(sandbox: Sandbox, path: str, content: bytes, *, cwd: str, timeout: float) -> ExecResult:
    """Write a file as the agent, through links and with the mode of one that is there; missing folders are made.

    Args:
        path: relative to `cwd`.

    Raises:
        OSError: if there can be no such path.
        InfrastructureError: if the sandbox is gone.
    """
    argv = ["/bin/sh", "-c", _WRITE, "sh", path, cwd]
    result = await sandbox.exec(argv, timeout=timeout, cwd="/", stdin=content)
    done = "" if result.exit_code else f"wrote {len(content)} bytes to {path}"
    return result._replace(output=result.output or done, cwd=cwd)
