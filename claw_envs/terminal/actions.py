"""The agent's message, read as what to do in the terminal.

Three forms, the first that is present counts:

1. OpenAI `tool_calls` of a message dict: `{"id", "type", "function": {"name", "arguments": <JSON text>}}`;
2. `<tool_call>` in the text, outside of bash blocks: with `{"name": ..., "arguments": {...}}` in it (Hermes, Qwen), or
   with `<function=name><parameter=key>value</parameter></function>` (Qwen3-Coder);
3. exactly one fenced block whose language is `bash` or `sh`; one that holds only the word `submit` ends the episode.

What a model thought aloud, up to `</think>`, is not read. The tools are those of `claw_envs.terminal.tools`. Whatever
cannot be read becomes a `Malformed` that says what was wrong and what would be right; nothing here raises. Other block
languages are not covered.
"""

import json
import re
from typing import Any, NamedTuple

from claw_envs.core.env import Action, text_of
from claw_envs.terminal.tools import Finish, Malformed, Tool, example, read_tool


class Call(NamedTuple):
    """One thing to do."""

    tool: Tool | Malformed
    id: str | None = None
    """Of an OpenAI tool call, empty where it came without one; None in the other forms."""


_BLOCK_EXAMPLE = "```bash\nls -l\n```"
# no part gives back what it took (`+` after a repeat): a long line would else hold up every episode of the loop
_OPENING = re.compile(r"^ {0,3}(?P<fence>`{3,}+)[ \t]*+(?P<language>[^`\s]*+)[^`\n]*+$|<tool_call>", re.MULTILINE)
_TOOL_CALL = re.compile(r"<tool_call>(.*?)(</tool_call>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"\s*<function=([^>\s]*)>(.*?)(?:</function>\s*)?", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter=([^>\s]*)>\r?\n?(.*?)\r?\n?</parameter>\s*", re.DOTALL)


def parse(action: Action | Any) -> list[Call]:
    """What `action` asks for, in order; at least one entry.

    >>> parse("I look first.\\n```bash\\nls\\n```")
    [Call(tool=Run(command='ls', timeout=None), id=None)]
    """
    if not isinstance(action, str | dict):
        return [Call(Malformed("A message is a text, or an object with `content` and `tool_calls`."))]
    entries = action.get("tool_calls") if isinstance(action, dict) else None
    if entries:
        if not isinstance(entries, list):
            return [Call(Malformed("`tool_calls` must be a list of calls."))]
        return [_openai_call(entry) for entry in entries]
    text = text_of(action).rpartition("</think>")[2]
    blocks, tagged = _parts(text)
    if tagged:
        return [Call(_tagged_call(content, closed=closed)) for content, closed in tagged]
    return [Call(_block_call(text, blocks))]


# --- fenced blocks ------------------------------------------------------------------------------------------------


class _Block(NamedTuple):
    language: str
    text: str
    closed: bool

    @property
    def shell(self) -> bool:
        return self.language in ("bash", "sh")


def _parts(text: str) -> tuple[list[_Block], list[tuple[str, bool]]]:
    """Fenced blocks as CommonMark defines them, and what stands in `<tool_call>`, with whether it was closed.

    Neither counts inside the other, but for calls in blocks of other languages.
    """
    blocks: list[_Block] = []
    tagged: list[tuple[str, bool]] = []
    position = 0
    while found := _OPENING.search(text, position):
        if found["fence"] is None:
            tag = _TOOL_CALL.match(text, found.start())
            assert tag is not None
            tagged.append((tag[1], bool(tag[2])))
            position = tag.end()
            continue
        end = re.compile(rf"^ {{0,3}}`{{{len(found['fence'])},}}[ \t\r]*$", re.MULTILINE).search(text, found.end() + 1)
        block = _Block(
            found["language"].lower(), text[found.end() + 1 : end.start() if end else len(text)], end is not None
        )
        blocks.append(block)
        if not block.shell:
            tagged += [(tag[1], bool(tag[2])) for tag in _TOOL_CALL.finditer(block.text)]
        position = end.end() if end else len(text)
    return blocks, tagged


def _block_call(text: str, blocks: list[_Block]) -> Tool | Malformed:
    shell = [block for block in blocks if block.shell]
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
    return read_tool("run_command", {"command": command})


# --- tool calls ---------------------------------------------------------------------------------------------------


def _openai_call(entry: Any) -> Call:
    if not isinstance(entry, dict):
        return Call(Malformed("Each entry of `tool_calls` must be an object with `id`, `type` and `function`."), "")
    call_id = entry["id"] if isinstance(entry.get("id"), str) else ""
    function = entry.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return Call(Malformed('A tool call needs `function`: {"name": ..., "arguments": ...}.'), call_id)
    return Call(_named_call(function["name"], function.get("arguments", {})), call_id)


def _tagged_call(text: str, *, closed: bool) -> Tool | Malformed:
    if not closed:
        return Malformed("<tool_call> was not closed; end it with </tool_call>.")
    if text.lstrip().startswith("<function="):
        return _xml_call(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Malformed(f"The text in <tool_call> is not valid JSON ({error}). Write: {example('run_command')}")
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return Malformed(f"<tool_call> needs `name` and `arguments`. Write: {example('run_command')}")
    return _named_call(value["name"], value.get("arguments", {}))


def _xml_call(text: str) -> Tool | Malformed:
    function = _FUNCTION.fullmatch(text)
    if function is None:
        return Malformed("<tool_call> holds one <function=name>...</function> and nothing else.")
    name, content = function.groups()
    arguments: dict[str, str] = {}
    position = 0
    while found := _PARAMETER.match(content, position):
        arguments[found[1]] = found[2]
        position = found.end()
    if content[position:].strip():
        return Malformed(
            "<function=name> holds one <parameter=key>value</parameter> for each argument and nothing else."
        )
    return read_tool(name, arguments, strict=False)


def _named_call(name: str, arguments: Any) -> Tool | Malformed:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            return Malformed(f"The arguments of {name!r} are not valid JSON ({error}).")
    return read_tool(name, arguments)
