"""What an agent's message does in a shell, read as the families read it whose agents write commands."""

import json
from collections.abc import Sequence

from claw_envs.core.episode import Turn
from claw_envs.wire.calls import Malformed
from claw_envs.wire.read import message_calls, tagged_call
from claw_envs.wire.scan import Span, scan, spoken
from claw_envs.wire.toolset import SHELL


def action_of(turn: Turn) -> str:
    """The turn's calls or its bash block, without the words around them; where there is none, all of the message."""
    if turn.tool_calls:
        calls = [call.get("function", call) if isinstance(call, dict) else call for call in turn.tool_calls]
        return "\n".join(json.dumps(call, ensure_ascii=False, default=str) for call in calls)
    return "\n".join(span.content.strip("\n") for span in _spans(turn.response)) or turn.response


def command_of(turn: Turn) -> str:
    """The shell command whose exit code the next state has; empty where the last call is of another tool."""
    calls = message_calls({"tool_calls": turn.tool_calls})
    if not calls:
        spans = _spans(turn.response)
        if spans and spans[-1].kind == "block":
            return spans[-1].content
        calls = [tagged_call(span.content, closed=span.closed) for span in spans]
    if not calls or isinstance(calls[-1], Malformed):
        return ""
    command = calls[-1].arguments.get("command")
    return command if isinstance(command, str) else ""


def _spans(response: str) -> Sequence[Span]:
    """Its `<tool_call>`s, else its bash blocks."""
    spans = scan(spoken(response), languages=SHELL)
    tags = [span for span in spans if span.kind == "tag"]
    return tags or [span for span in spans if span.kind == "block" and span.language in SHELL]
