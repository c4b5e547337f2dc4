"""The agent's message, read as what to do in the terminal.

Three forms, the first that is present counts:

1. OpenAI `tool_calls` of a message dict: `{"id", "type", "function": {"name", "arguments": <JSON text>}}`;
2. `<tool_call>` in the text, outside of bash blocks: with `{"name": ..., "arguments": {...}}` in it (Hermes, Qwen), or
   with `<function=name><parameter=key>value</parameter></function>` (Qwen3-Coder);
3. exactly one fenced block whose language is `bash` or `sh`; one that holds only the word `submit` ends the episode.

What a model thought aloud is not read, nor what it made up as an answer (`claw_envs.wire.scan`). The tools are those of
`claw_envs.terminal.tools`. Whatever cannot be read becomes a `Malformed` that says what was wrong and what would be
right; nothing here raises. Other block languages are not covered.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from claw_envs import wire
from claw_envs.core.env import Action, text_of
from claw_envs.terminal.tools import Finish, Malformed, Tool, example, read_tool
from claw_envs.wire.read import message_calls, tagged_call
from claw_envs.wire.scan import Span, scan, spoken

SHELL = ("bash", "sh")
"""Languages of the blocks that are run."""
_BLOCK_EXAMPLE = "```bash\nls -l\n```"


class Call(NamedTuple):
    """One thing to do."""

    tool: Tool | Malformed
    id: str | None = None
    """Of an OpenAI tool call, empty where it came without one; None in the other forms."""


def parse(action: Action | Any) -> list[Call]:
    """What `action` asks for, in order; at least one entry.

    >>> parse("I look first.\\n```bash\\nls\\n```")
    [Call(tool=Run(command='ls', timeout=None), id=None)]
    """
    if native := message_calls(action):
        return [_tool_call(call) for call in native]
    text = spoken(text_of(action))
    spans = scan(text, languages=SHELL)
    tags = [span for span in spans if span.kind == "tag"]
    if tags:
        return [_tool_call(tagged_call(tag.content, closed=tag.closed, example=example("run_command"))) for tag in tags]
    return [Call(_block_call(text, [span for span in spans if span.kind == "block"]))]


def _tool_call(call: wire.Call | wire.Malformed) -> Call:
    if isinstance(call, wire.Malformed):
        return Call(Malformed(call.problem), call.id)
    return Call(read_tool(call.name, call.arguments, strict=call.typed), call.id)


def _block_call(text: str, blocks: Sequence[Span]) -> Tool | Malformed:
    shell = [block for block in blocks if block.language in SHELL]
    if not text.strip():
        return Malformed(f"The message was empty. Write one command:\n{_BLOCK_EXAMPLE}")
    if not shell and blocks:
        tag = f"is marked `{blocks[0].language}`" if blocks[0].language else "has no language"
        return Malformed(f"The code block {tag}; only `bash` blocks are run. Write:\n{_BLOCK_EXAMPLE}")
    if not shell:
        return Malformed(f"There was no command in the message. Write one in a bash block:\n{_BLOCK_EXAMPLE}")
    if len(shell) > 1:
        return Malformed(f"There were {len(shell)} bash blocks; put all commands of one message in one bash block.")
    if not shell[0].closed:
        return Malformed("The bash block was not closed; end it with a line of three backticks: ```")
    command = shell[0].content.removesuffix("\n").removesuffix("\r")
    if not command.strip():
        return Malformed(f"The bash block was empty. Write a command in it:\n{_BLOCK_EXAMPLE}")
    if command.strip() == "submit":
        return Finish()
    return read_tool("run_command", {"command": command})
