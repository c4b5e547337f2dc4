"""What a message of the agent's was read as: calls of tools, and the text beside them."""

from typing import Any, Literal, NamedTuple

Form = Literal["openai", "hermes", "llama3", "code", "fenced"]
"""How calls are written: OpenAI `tool_calls`; `<tool_call>` with JSON (Hermes, Qwen) or XML (Qwen3-Coder) in it;
Llama 3 JSON; `<code>`; a fenced block."""


class Call(NamedTuple):
    """A call that could be read; whether there is such a tool, and its arguments fit, is not yet known."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None
    """Of an OpenAI call, empty where it came without one; None in the other forms."""
    typed: bool = True
    """False where the form knows only texts (Qwen3-Coder's XML), so that `"5"` may stand for a number."""


class Malformed(NamedTuple):
    """A call that could not be read."""

    problem: str
    """What was wrong and what would be right."""
    id: str | None = None


class Parsed(NamedTuple):
    """An agent's message."""

    calls: list[Call | Malformed]
    """In order; empty where the message calls nothing."""
    text: str
    """What the message says beside its calls, without what the model thought aloud."""
    form: Form | None = None
    """Of the calls; None where there are none."""
