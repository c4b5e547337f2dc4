"""The tools of the terminal: what each takes. How a message calls them: `claw_envs.wire.toolset`."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from claw_envs.terminal.keys import encode_keys
from claw_envs.wire.toolset import Toolset, unsendable


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


def _problem(tool: Tool) -> str | None:
    """What no shell or file system could represent, or no program could mean."""
    values = msgspec.structs.asdict(tool)
    for name, value in values.items():
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and unsendable(text, zero_byte=not isinstance(tool, Type)) for text in texts):
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


TOOLSET: Toolset[Tool] = Toolset(TOOLS, run="run_command", submit="finish", problem=_problem)
