"""What the calls of one message did, as the agent is shown it; `claw_envs.core.results` puts it together."""

from collections.abc import Sequence

from claw_envs.core import results as shared
from claw_envs.core.episode import Observation
from claw_envs.core.results import Asked, Result, not_run
from claw_envs.sandbox.base import ExecResult
from claw_envs.terminal.actions import Call
from claw_envs.terminal.tools import NAMES, Malformed

__all__ = ["Result", "command_result", "not_run", "observation"]


def command_result(result: ExecResult, *, timeout: float) -> Result:
    """A command that ran to its end, or to its `timeout` (seconds)."""
    code = "no exit code" if result.exit_code is None else f"exit {result.exit_code}"
    parts = [f"stopped after {timeout:.3g} s" if result.timed_out else code, result.cwd]
    if result.truncated_bytes:
        parts.append(f"{result.truncated_bytes} bytes cut")
    return Result(" | ".join(parts), result.output, result.exit_code)


def observation(calls: Sequence[Call], results: Sequence[Result], *, submitted: bool) -> Observation:
    """What the agent is shown after a message, one result a call."""
    return shared.shown(
        [Asked("malformed" if isinstance(call.tool, Malformed) else NAMES[type(call.tool)], call.id) for call in calls],
        results,
        role="tool" if submitted or any(result.ran for result in results) else "environment",
        answers=any(call.id for call in calls),
    )
