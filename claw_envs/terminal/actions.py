"""The agent's message, read as what to do in the terminal.

Three forms, the first that is present counts:

1. OpenAI `tool_calls` of a message dict: `{"id", "type", "function": {"name", "arguments": <JSON text>}}`;
2. `<tool_call>{"name": ..., "arguments": {...}}</tool_call>` in the text (Hermes and Qwen), outside of bash blocks;
3. exactly one fenced block whose language is `bash` or `sh`; one that holds only the word `submit` ends the episode.

Tools: `run_command(command, timeout?)`, `write_file(path, content)`, `finish()`. Whatever cannot be read becomes a
`Malformed` that says what was wrong and what would be right; nothing here raises. Other tools and other block languages
are not covered.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from claw_envs.core.env import Action, text_of


class Run(NamedTuple):
    """Run a command in the persistent shell."""

    command: str
    timeout: float | None = None
    call_id: str | None = None


class Write(NamedTuple):
    """Write a file as the agent's user."""

    path: str
    content: str
    call_id: str | None = None


class Finish(NamedTuple):
    """End the episode and have the work verified."""

    call_id: str | None = None


class Malformed(NamedTuple):
    """Not to be executed; `problem` says what was wrong and what would be right."""

    problem: str
    call_id: str | None = None


Call = Run | Write | Finish | Malformed

_BLOCK_EXAMPLE = "```bash\nls -l\n```"
_TOOL_CALL = re.compile(r"<tool_call>(.*?)(</tool_call>|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,})[ \t]*([^`\s]*)[^`]*")


def parse(action: Action) -> list[Call]:
    """What `action` asks for, in order; at least one entry.

    >>> parse("I look first.\\n```bash\\nls\\n```")
    [Run(command='ls', timeout=None, call_id=None)]
    """
    entries = None if isinstance(action, str) else action.get("tool_calls")
    if entries:
        if not isinstance(entries, list):
            return [Malformed("`tool_calls` must be a list of calls.")]
        return [_openai_call(entry) for entry in entries]
    text = text_of(action)
    blocks, outside = _blocks(text)
    if tagged := [_tagged_call(found[1], closed=bool(found[2])) for found in _TOOL_CALL.finditer(outside)]:
        return tagged
    return [_block_call(text, blocks)]


# --- fenced blocks ------------------------------------------------------------------------------------------------


class _Block(NamedTuple):
    language: str
    text: str
    closed: bool


def _blocks(text: str) -> tuple[list[_Block], str]:
    """Fenced blocks as CommonMark defines them, and the text without the bash ones."""
    blocks: list[_Block] = []
    outside: list[str] = []
    fence, language, lines = "", "", [""]
    for line in text.splitlines(keepends=True):
        found = _FENCE.fullmatch(line.rstrip("\r\n"))
        if not fence and found:
            fence, language, lines = found[1], found[2].lower(), []
        elif fence and found and len(found[1]) >= len(fence) and not line.strip().strip("`"):
            blocks.append(_Block(language, "".join(lines), True))
            fence = ""
        elif fence:
            lines.append(line)
        if not (fence and language in ("bash", "sh")):
            outside.append(line)
    if fence:
        blocks.append(_Block(language, "".join(lines), False))
    return blocks, "".join(outside)


def _block_call(text: str, blocks: list[_Block]) -> Call:
    shell = [block for block in blocks if block.language in ("bash", "sh")]
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
    command = shell[0].text.removesuffix("\n").removesuffix("\r")
    if not command.strip():
        return Malformed(f"The bash block was empty. Write a command in it:\n{_BLOCK_EXAMPLE}")
    if command.strip() == "submit":
        return Finish()
    return _checked(Run(command))


# --- tool calls ---------------------------------------------------------------------------------------------------


def _openai_call(entry: Any) -> Call:
    if not isinstance(entry, dict):
        return Malformed("each entry of `tool_calls` must be an object with `id`, `type` and `function`.")
    call_id = entry["id"] if isinstance(entry.get("id"), str) else None
    function = entry.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return Malformed('a tool call needs `function`: {"name": ..., "arguments": ...}.', call_id)
    return _call(function["name"], function.get("arguments", {}), call_id)


def _tagged_call(text: str, *, closed: bool) -> Call:
    if not closed:
        return Malformed("<tool_call> was not closed; end it with </tool_call>.")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Malformed(f"The text in <tool_call> is not valid JSON ({error}). Write: {_example('run_command')}")
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return Malformed(f"<tool_call> needs `name` and `arguments`. Write: {_example('run_command')}")
    return _call(value["name"], value.get("arguments", {}), None)


def _call(name: str, arguments: Any, call_id: str | None) -> Call:
    if name not in _TOOLS:
        return Malformed(f"There is no tool {name!r}; the tools are {', '.join(_TOOLS)}.", call_id)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            problem = f"The arguments of {name} are not valid JSON ({error})."
            return Malformed(f"{problem} Write: {_example(name)}", call_id)
    if not isinstance(arguments, dict):
        return Malformed(f"The arguments of {name} must be an object. Write: {_example(name)}", call_id)
    kinds, make = _TOOLS[name]
    for key, value in arguments.items():
        if key not in kinds:
            return Malformed(f"{name} has no argument {key!r}; it takes {', '.join(kinds) or 'none'}.", call_id)
        if not isinstance(value, kinds[key]) or isinstance(value, bool):
            wanted = "a string" if kinds[key] is str else "a number of seconds"
            return Malformed(f"{key!r} of {name} must be {wanted}, got {type(value).__name__}.", call_id)
    missing = [key for key in kinds if key not in arguments and key != "timeout"]
    if missing:
        return Malformed(f"{name} needs {', '.join(missing)}. Write: {_example(name)}", call_id)
    return _checked(make(**arguments, call_id=call_id))


def _checked(call: Call) -> Call:
    """Faults that no shell or file system could represent."""
    for name, value in call._asdict().items():
        if isinstance(value, str) and ("\0" in value or _surrogate(value)):
            return Malformed(f"`{name}` holds a NUL byte or half a surrogate pair; send plain text.", call.call_id)
    if isinstance(call, Run):
        if not call.command.strip():
            return Malformed("The command was empty; write the command to run.", call.call_id)
        if call.timeout is not None and not (math.isfinite(call.timeout) and call.timeout > 0):
            return Malformed("`timeout` must be a number of seconds above 0.", call.call_id)
    if isinstance(call, Write) and not call.path.strip():
        return Malformed("`path` was empty; name the file to write.", call.call_id)
    return call


def _surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


_TOOLS: dict[str, tuple[dict[str, Any], Callable[..., Call]]] = {
    "run_command": ({"command": str, "timeout": int | float}, Run),
    "write_file": ({"path": str, "content": str}, Write),
    "finish": ({}, Finish),
}
_EXAMPLES: dict[str, dict[str, Any]] = {
    "run_command": {"command": "ls -l"},
    "write_file": {"path": "notes.txt", "content": "first line\n"},
    "finish": {},
}


def _example(name: str) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': _EXAMPLES[name]})}</tool_call>"


def _schema(name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOL_SCHEMAS: tuple[dict[str, Any], ...] = (
    _schema(
        "run_command",
        "Run a command in a bash shell. The working directory and variables are kept between commands.",
        {
            "command": {"type": "string", "description": "What to run; may have several lines."},
            "timeout": {"type": "number", "description": "Seconds after which the command is stopped."},
        },
        ["command"],
    ),
    _schema(
        "write_file",
        "Write a text file; missing folders are made, an existing file is replaced.",
        {
            "path": {"type": "string", "description": "Absolute, or relative to the working directory."},
            "content": {"type": "string", "description": "The whole new content."},
        },
        ["path", "content"],
    ),
    _schema("finish", "Say that the task is done. The work is checked then.", {}, []),
)
"""The tools as OpenAI function schemas."""
