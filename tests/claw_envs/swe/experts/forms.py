"""The forms in which an expert's messages are written: a bash block, a tagged call, and an OpenAI tool call."""

import json
from typing import Any

Message = str | dict[str, Any]
Step = tuple[Message, str]
"""A message, and a text that the observation after it must hold; "" where anything may come."""


def bash(thought: str, command: str) -> str:
    """A thought and one bash block."""
    return f"THOUGHT: {thought}\n\n```bash\n{command.strip()}\n```"


def tagged(thought: str, name: str, **arguments: Any) -> str:
    """A thought and one `<tool_call>`."""
    return f"{thought}\n<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def native(thought: str, name: str, **arguments: Any) -> dict[str, Any]:
    """A message with one OpenAI tool call."""
    call = {"id": "call-1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": thought, "tool_calls": [call]}


SUBMIT = "```bash\nsubmit\n```"
