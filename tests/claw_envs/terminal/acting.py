"""Agent messages for tests."""

import json
from typing import Any


def bash(command: str) -> str:
    """A message that runs `command`."""
    return f"```bash\n{command}\n```"


def calls(*pairs: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """A message with OpenAI tool calls, `call_0` and so on."""
    entries = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(pairs)
    ]
    return {"role": "assistant", "content": None, "tool_calls": entries}


SUBMIT = bash("submit")
