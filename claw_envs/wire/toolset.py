"""A table of tools, and an agent's message read as calls of them. Nothing here raises on what an agent writes.

A tool is a struct whose fields are its arguments; its docstring and field descriptions are what the agent reads. A
message takes one of three forms, the first that is present counts:

1. OpenAI `tool_calls` of a message dict: `{"id", "type", "function": {"name", "arguments": <JSON text>}}`;
2. `<tool_call>` in the text, outside of bash blocks: with `{"name": ..., "arguments": {...}}` in it (Hermes, Qwen), or
   with `<function=name><parameter=key>value</parameter></function>` (Qwen3-Coder);
3. exactly one fenced block whose language is `bash` or `sh`; one that holds only the word `submit` ends the episode.

What a model thought aloud is not read, nor what it made up as an answer (`claw_envs.wire.scan`). Whatever cannot be
read becomes a `Malformed` that says what was wrong and what would be right. Other block languages are not covered.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from claw_envs.core.env import Action, text_of
from claw_envs.wire import calls as wire
from claw_envs.wire.calls import Malformed
from claw_envs.wire.read import message_calls, tagged_call
from claw_envs.wire.scan import Span, scan, spoken

SHELL = ("bash", "sh")
"""Languages of the blocks that are run."""
SUBMIT = "submit"
"""The word that ends an episode, alone in a block."""
_BLOCK_EXAMPLE = "```bash\nls -l\n```"

T = TypeVar("T", bound=msgspec.Struct)


class Call(NamedTuple, Generic[T]):
    """One thing to do."""

    tool: T | Malformed
    id: str | None = None
    """Of an OpenAI tool call, empty where it came without one; None in the other forms."""


class Tools(Generic[T]):
    """The tools of one family, and single calls read as theirs.

    Args:
        tools: name -> its struct and an example of its arguments.
        problem: what is wrong with a call whose types are right; None where nothing is.
    """

    def __init__(
        self, tools: Mapping[str, tuple[type[T], dict[str, Any]]], *, problem: Callable[[T], str | None]
    ) -> None:
        self._tools, self._problem = tools, problem
        self.names = {kind: name for name, (kind, _) in tools.items()}
        self.schemas = tuple(_schema(name, kind) for name, (kind, _) in tools.items())
        """The tools as OpenAI function schemas."""

    def example(self, name: str) -> str:
        """A right call of tool `name`, as a `<tool_call>`."""
        return f"<tool_call>{json.dumps({'name': name, 'arguments': self._tools[name][1]})}</tool_call>"

    def read(self, name: str, arguments: Any, *, strict: bool = True) -> T | Malformed:
        """The call of tool `name`.

        Args:
            strict: False where the wire form has no types, so that `"5"` may be a number.
        """
        if name not in self._tools:
            return Malformed(f"There is no tool {name!r}; the tools are {', '.join(self._tools)}.")
        kind = self._tools[name][0]
        try:
            tool = msgspec.convert(arguments, kind, strict=strict)
        except (msgspec.ValidationError, UnicodeEncodeError, RecursionError) as error:
            takes = ", ".join(kind.__struct_fields__) or "nothing"
            return Malformed(f"{name}: {error}. It takes {takes}. Write: {self.example(name)}")
        problem = self._problem(tool)
        return Malformed(f"{name}: {problem}") if problem else tool


class Toolset(Tools[T]):
    """Tools, and whole messages read as calls of them.

    Args:
        tools: as those of `Tools`.
        run: the tool that a bash block calls; its argument is `command`.
        submit: the tool that ends the episode; it takes nothing.
        problem: as that of `Tools`.
    """

    def __init__(
        self,
        tools: Mapping[str, tuple[type[T], dict[str, Any]]],
        *,
        run: str,
        submit: str,
        problem: Callable[[T], str | None],
    ) -> None:
        super().__init__(tools, problem=problem)
        self._run, self._submit = run, submit

    def name_of(self, call: Call[T]) -> str:
        """Of the tool that is called, or `malformed`."""
        return "malformed" if isinstance(call.tool, Malformed) else self.names[type(call.tool)]

    def parse(self, action: Action | Any) -> list[Call[T]]:
        """What `action` asks for, in order; at least one entry."""
        if native := message_calls(action):
            return [self._call(call) for call in native]
        text = spoken(text_of(action))
        spans = scan(text, languages=SHELL)
        tags = [span for span in spans if span.kind == "tag"]
        if tags:
            example = self.example(self._run)
            return [self._call(tagged_call(tag.content, closed=tag.closed, example=example)) for tag in tags]
        command = _command(text, [span for span in spans if span.kind == "block"])
        if isinstance(command, Malformed):
            return [Call(command)]
        if command.strip() == SUBMIT:
            return [Call(self.read(self._submit, {}))]
        return [Call(self.read(self._run, {"command": command}))]

    def _call(self, call: wire.Call | Malformed) -> Call[T]:
        if isinstance(call, Malformed):
            return Call(call, call.id)
        return Call(self.read(call.name, call.arguments, strict=call.typed), call.id)


def unsendable(text: str, *, zero_byte: bool = True) -> bool:
    """Whether a text holds half a surrogate pair or (with `zero_byte`) a NUL, which no shell could be given."""
    return (zero_byte and "\0" in text) or any("\ud800" <= character <= "\udfff" for character in text)


def _command(text: str, blocks: Sequence[Span]) -> str | Malformed:
    """The content of the only bash block."""
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
    return command


def _schema(name: str, kind: type[msgspec.Struct]) -> dict[str, Any]:
    _, parts = msgspec.json.schema_components((kind,))
    schema = parts[kind.__name__]
    parameters = {key: schema[key] for key in ("type", "properties", "required", "additionalProperties")}
    description = " ".join(schema["description"].split())
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}
