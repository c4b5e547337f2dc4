"""How what the calls of one message did becomes the observation: a header line each, then the text.

A text that imitates a header misleads nobody who counts: the observation begins with the real one, and the answer to an
OpenAI call holds one call's text only.
"""

from collections.abc import Sequence
from typing import NamedTuple

from claw_envs.core.episode import Answer, Observation
from claw_envs.sandbox.base import ExecResult
from claw_envs.terminal.actions import Call
from claw_envs.terminal.tools import NAMES, Malformed


class Result(NamedTuple):
    """What one call did."""

    head: str
    text: str
    exit_code: int | None = None
    ran: bool = True
    """False where nothing was run, and the environment itself answers."""


def not_run(why: str) -> Result:
    """A call that was not carried out."""
    return Result("not run", why, ran=False)


def command_result(result: ExecResult, *, timeout: float) -> Result:
    """A command that ran to its end, or to its `timeout` (seconds)."""
    code = "no exit code" if result.exit_code is None else f"exit {result.exit_code}"
    parts = [f"stopped after {timeout:.3g} s" if result.timed_out else code, result.cwd]
    if result.truncated_bytes:
        parts.append(f"{result.truncated_bytes} bytes cut")
    return Result(" | ".join(parts), result.output, result.exit_code)


def observation(calls: Sequence[Call], results: Sequence[Result], *, submitted: bool) -> Observation:
    """What the agent is shown after a message, one result a call."""
    ran = [result for result in results if result.ran]
    shown = [_shown(result.head, result.text) for result in results]
    answers = [Answer(call.id or "", text) for call, text in zip(calls, shown, strict=True)]
    if len(calls) > 1:
        heads = [
            f"{i}/{len(calls)} {'malformed' if isinstance(call.tool, Malformed) else NAMES[type(call.tool)]}"
            for i, call in enumerate(calls, 1)
        ]
        shown = [_shown(f"{head} | {result.head}", result.text) for head, result in zip(heads, results, strict=True)]
    return Observation(
        role="tool" if ran or submitted else "environment",
        text="\n".join(shown),
        exit_code=ran[-1].exit_code if ran else None,
        answers=answers if any(call.id for call in calls) else [],
    )


def _shown(head: str, text: str) -> str:
    return f"[{head}]\n{text}".rstrip("\n")
