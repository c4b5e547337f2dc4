"""The tools of a repair: what each takes. How a message calls them: `claw_envs.wire.toolset`."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from claw_envs.core.errors import UserError
from claw_envs.wire.toolset import Toolset, unsendable

_Path = Annotated[str, Meta(description="Absolute, or relative to the working directory.")]


class Bash(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Run a command in a bash shell to its end. The working directory and variables are kept between commands."""

    command: Annotated[str, Meta(description="What to run; may have several lines.")]


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Show a text file with the numbers of its lines, or a part of it."""

    path: _Path
    start: Annotated[int, Meta(ge=1, description="The first line shown.")] = 1
    end: Annotated[int, Meta(ge=1, description="The last line shown.")] | None = None


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Replace a piece of a text file that occurs in it exactly once."""

    path: _Path
    old: Annotated[str, Meta(description="What is replaced, to the letter: indentation and line breaks count.")]
    new: Annotated[str, Meta(description="What takes its place; empty to remove it.")]


class Write(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Write a text file; missing folders are made, an existing file is replaced."""

    path: _Path
    content: Annotated[str, Meta(description="The whole new content.")]


class Submit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Say that the repair is done. It is tested then."""


Tool = Bash | View | Edit | Write | Submit

TOOLS: dict[str, tuple[type[Tool], dict[str, Any]]] = {
    "bash": (Bash, {"command": "ls -l"}),
    "view_file": (View, {"path": "setup.py", "start": 1, "end": 40}),
    "edit_file": (Edit, {"path": "setup.py", "old": 'version="1.0"', "new": 'version="1.1"'}),
    "write_file": (Write, {"path": "/tmp/check.py", "content": "import json\n"}),
    "submit": (Submit, {}),
}
"""Name -> its struct and an example of its arguments."""
OPTIONAL = ("view_file", "edit_file", "write_file")


def toolset(chosen: bool | Sequence[str]) -> Toolset[Tool]:
    """The tools that an agent has.

    Args:
        chosen: which of `OPTIONAL` beside `bash` and `submit`; all or none.

    Raises:
        UserError: if there is no such tool.
    """
    names = (OPTIONAL if chosen else ()) if isinstance(chosen, bool) else chosen
    if isinstance(names, str) or (unknown := [name for name in names if name not in OPTIONAL]):
        said = chosen if isinstance(names, str) else ", ".join(map(repr, unknown))
        raise UserError(f"tools takes true, false or a list of {', '.join(OPTIONAL)}; not {said}")
    table = {name: row for name, row in TOOLS.items() if name in names or name not in OPTIONAL}
    return Toolset(table, run="bash", submit="submit", problem=_problem)


def _problem(tool: Tool) -> str | None:
    """What no shell or file system could represent, or nobody could mean."""
    for name, value in msgspec.structs.asdict(tool).items():
        if isinstance(value, str) and unsendable(value):
            return f"`{name}` holds a NUL byte or half a surrogate pair; send plain text."
    match tool:
        case Bash(command=command) if not command.strip():
            return "the command was empty; write what to run."
        case View(path=path) | Edit(path=path) | Write(path=path) if not path.strip():
            return "`path` was empty; name the file."
        case View(start=start, end=int(end)) if end < start:
            return f"`end` is {end}, before `start`, which is {start}."
        case Edit(old=""):
            return "`old` was empty; write what to replace, or use write_file for a new file."
        case Edit(old=old, new=new) if old == new:
            return "`old` and `new` are the same."
    return None
