"""The tools of the terminal: what each takes, its schema, and a reading of arguments that never raises.

A tool is a struct whose fields are its arguments; its docstring and field descriptions are what the agent reads.
How a message carries calls is the business of `claw_envs.terminal.actions`.
"""

import json
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from claw_envs.terminal.keys import encode_keys


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Run a command in a bash shell to its end. The working directory and variables are kept between commands."""

    command: Annotated[str, Meta(description="What to run; may have several lines.")]
    timeout: Annotated[float, Meta(gt=0, description="Seconds after which the command is stopped.")] | None = None


class Start(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Start a program in the background on a terminal of its own, as process 1, 2 and so on: a REPL, an editor, a
    server. Its screen is shown."""

    command: Annotated[str, Meta(description="What to start, for example python3 or vim notes.txt.")]


_Process = Annotated[int, Meta(ge=1, description="Number of the process.")]


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Show the screen of a process, and what has scrolled off it since it was last shown."""

    process: _Process
    wait: Annotated[float, Meta(gt=0, description="Seconds to wait for something new.")] | None = None


class Type(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Type text into a process as it stands; end a line with a newline. Its screen is shown."""

    process: _Process
    text: str


class Press(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Press keys in a process. Its screen is shown."""

    process: _Process
    keys: Annotated[
        str | list[str],
        Meta(
            description="Keys by name: Enter, Escape, Tab, Space, BSpace, Up, Down, Left, Right, Home, End, PageUp, "
            "PageDown, Delete, F1, C-c (Ctrl), M-x (Alt). In a string, words that are such names are pressed, and what "
            "stands between them is typed with its spaces: `import time Enter`. In a list, an entry that is exactly "
            'such a name is pressed, and any other is typed as it stands: ["two words", "Enter"].'
        ),
    ]


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stop a process. Its last screen is shown."""

    process: _Process


class Write(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Write a text file; missing folders are made, an existing file is replaced."""

    path: Annotated[str, Meta(description="Absolute, or relative to the working directory.")]
    content: Annotated[str, Meta(description="The whole new content.")]


class Finish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Say that the task is done. The work is checked then."""


class Malformed(NamedTuple):
    """No tool's call: `problem` says what was wrong and what would be right."""

    problem: str


Tool = Run | Start | View | Type | Press | Stop | Write | Finish

TOOLS: dict[str, tuple[type[Tool], dict[str, Any]]] = {
    "run_command": (Run, {"command": "ls -l"}),
    "start_process": (Start, {"command": "python3 -i"}),
    "view_process": (View, {"process": 1, "wait": 5}),
    "write_to_process": (Type, {"process": 1, "text": "print(1)\n"}),
    "send_keys": (Press, {"process": 1, "keys": "C-c"}),
    "stop_process": (Stop, {"process": 1}),
    "write_file": (Write, {"path": "notes.txt", "content": "first line\n"}),
    "finish": (Finish, {}),
}
"""Name -> its struct and an example of its arguments."""

NAMES = {kind: name for name, (kind, _) in TOOLS.items()}


def read_tool(name: str, arguments: Any, *, strict: bool = True) -> Tool | Malformed:
    """The call of tool `name`.

    Args:
        strict: False where the wire form has no types, so that `"5"` may be a number.
    """
    if name not in TOOLS:
        return Malformed(f"There is no tool {name!r}; the tools are {', '.join(TOOLS)}.")
    kind = TOOLS[name][0]
    try:
        tool = msgspec.convert(arguments, kind, strict=strict)
    except (msgspec.ValidationError, UnicodeEncodeError, RecursionError) as error:
        takes = ", ".join(kind.__struct_fields__) or "nothing"
        return Malformed(f"{name}: {error}. It takes {takes}. Write: {example(name)}")
    problem = _problem(tool)
    return Malformed(f"{name}: {problem}") if problem else tool


def example(name: str) -> str:
    """A right call of tool `name`, as a `<tool_call>`."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': TOOLS[name][1]})}</tool_call>"


def _problem(tool: Tool) -> str | None:
    """What no shell or file system could represent, or no program could mean."""
    values = msgspec.structs.asdict(tool)
    for name, value in values.items():
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and _unsendable(text, zero_byte=not isinstance(tool, Type)) for text in texts):
            return f"`{name}` holds a NUL byte or half a surrogate pair; send plain text."
    for name in ("timeout", "wait"):
        # msgspec's own bound lets 0 pass where the process flushes denormal numbers to zero, as those do that train
        if (seconds := values.get(name)) is not None and seconds <= 0:
            return f"`{name}` must be > 0 seconds."
    if isinstance(tool, Run | Start) and not tool.command.strip():
        return "the command was empty; write what to run."
    if isinstance(tool, Write) and not tool.path.strip():
        return "`path` was empty; name the file to write."
    if isinstance(tool, Press):
        try:
            encode_keys(tool.keys)
        except ValueError as error:
            return str(error)
    return None


def _unsendable(text: str, *, zero_byte: bool) -> bool:
    return (zero_byte and "\0" in text) or any("\ud800" <= character <= "\udfff" for character in text)


def _schema(name: str, kind: type[Tool]) -> dict[str, Any]:
    _, parts = msgspec.json.schema_components((kind,))
    schema = parts[kind.__name__]
    parameters = {key: schema[key] for key in ("type", "properties", "required", "additionalProperties")}
    description = " ".join(schema["description"].split())
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOL_SCHEMAS: tuple[dict[str, Any], ...] = tuple(_schema(name, kind) for name, (kind, _) in TOOLS.items())
"""The tools as OpenAI function schemas."""
