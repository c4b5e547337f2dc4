"""Files as the agent's editing tools see and change them.

What is shown or replaced is worked out here, so that it needs no program inside; whether the agent may read or write a
file is asked as the agent. Files are bytes: an edit leaves everything else of a file as it is, whatever its encoding.
"""

import posixpath

from claw_envs.core.results import Result, not_run
from claw_envs.sandbox.acting import command_result, write_file
from claw_envs.sandbox.base import Sandbox
from claw_envs.swe.tools import Edit, View, Write

MOST_SHOWN = 10_000
"""Characters of a file that are shown at a time."""
_LONGEST_LINE = 2000
_MOST_BYTES = 10_000_000
_AROUND = 3
"""Lines shown before and after an edit."""
_PLACES = 10
# $1 the file, $2 the permission that is needed
_CHECK = """[ -e "$1" ] || { echo "$1: there is no such file"; exit 1; }
[ ! -d "$1" ] || { echo "$1 is a folder; list it with ls"; exit 1; }
[ -f "$1" ] || { echo "$1 is not a regular file"; exit 1; }
[ "$2" "$1" ] || { echo "$1: permission denied"; exit 1; }
"""


class Editor:
    """The files of one sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def view(self, call: View, *, cwd: str, limit: float) -> Result:
        """Show a file, or lines of it, as far as `MOST_SHOWN` goes.

        Raises:
            InfrastructureError: if the sandbox is gone.
        """
        found = await self._read(call.path, "-r", cwd=cwd, limit=limit)
        if isinstance(found, Result):
            return found
        lines = _lines(found)
        if not lines:
            return Result(f"exit 0 | {cwd} | empty", "", 0)
        if call.start > len(lines):
            return _failed(cwd, f"{call.path} has only {len(lines)} lines")
        shown = _numbered(lines, call.start, call.end or len(lines))
        last = call.start + len(shown) - 1
        if last < min(call.end or len(lines), len(lines)):
            shown.append(f"[too long to show at once: go on with start={last + 1}]")
        return Result(f"exit 0 | {cwd} | lines {call.start}-{last} of {len(lines)}", "\n".join(shown), 0)

    async def edit(self, call: Edit, *, cwd: str, limit: float) -> Result:
        """Replace what occurs exactly once.

        Raises:
            InfrastructureError: if the sandbox is gone.
        """
        found = await self._read(call.path, "-w", cwd=cwd, limit=limit)
        if isinstance(found, Result):
            return found
        old, new = call.old.encode(), call.new.encode()
        count = found.count(old)
        if count != 1:
            return _failed(cwd, _not_once(call.path, found, old, count))
        place = found.index(old)
        after = found[:place] + new + found[place + len(old) :]
        written = await self.write(Write(call.path, ""), content=after, cwd=cwd, limit=limit)
        if written.exit_code != 0:
            return written
        first = after.count(b"\n", 0, place) + 1
        last = first + new.removesuffix(b"\n").count(b"\n")
        shown = _numbered(_lines(after), max(1, first - _AROUND), last + _AROUND)
        return Result(f"exit 0 | {cwd}", f"{call.path} now reads:\n" + "\n".join(shown), 0)

    async def write(self, call: Write, *, cwd: str, limit: float, content: bytes | None = None) -> Result:
        """Write a file: the call's content, or `content`.

        Raises:
            InfrastructureError: if the sandbox is gone.
        """
        data = call.content.encode() if content is None else content
        try:
            result = await write_file(self._sandbox, call.path, data, cwd=cwd, timeout=limit)
        except OSError as error:
            return not_run(f"The file cannot be written: {error}")
        return command_result(result, timeout=limit)

    async def _read(self, path: str, permission: str, *, cwd: str, limit: float) -> bytes | Result:
        """The file's content, or what to tell the agent."""
        place = posixpath.join(cwd, path)
        try:
            argv = ["/bin/sh", "-c", _CHECK, "sh", place, permission]
            checked = await self._sandbox.exec(argv, timeout=limit, cwd="/")
            if checked.exit_code != 0:
                return command_result(checked._replace(cwd=cwd), timeout=limit)
            content = await self._sandbox.get(place, max_bytes=_MOST_BYTES + 1)
        except OSError as error:
            return not_run(f"The file cannot be read: {error}")
        if len(content) > _MOST_BYTES:
            return _failed(cwd, f"{path} is over {_MOST_BYTES} bytes; use bash for it")
        return content


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").removesuffix("\n").split("\n") if content else []


def _numbered(lines: list[str], first: int, last: int) -> list[str]:
    """Lines with their numbers, counted from 1, as many as may be shown."""
    shown: list[str] = []
    length = 0
    for number, line in enumerate(lines[first - 1 : last], first):
        cut = line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} [... {len(line) - _LONGEST_LINE} more]"
        text = f"{number:>6}\t{cut}"
        length += len(text) + 1
        if shown and length > MOST_SHOWN:
            break
        shown.append(text)
    return shown


def _not_once(path: str, content: bytes, old: bytes, count: int) -> str:
    if count:
        lines = ", ".join(map(str, _lines_with(content, old)))
        return f"`old` occurs {count} times in {path}, at lines {lines}: give more lines around it"
    if b"\r\n" in content and content.replace(b"\r\n", b"\n").count(old):
        return f"`old` does not occur in {path}, whose lines end with CRLF: replace one line at a time, or use bash"
    if old.strip() and content.count(old.strip()):
        return f"`old` does not occur in {path}; without the blanks around it, it does"
    return f"`old` does not occur in {path}: view the file and copy it to the letter"


def _lines_with(content: bytes, old: bytes) -> list[int]:
    """Numbers of the first lines at which `old` begins."""
    found: list[int] = []
    place = content.find(old)
    while place >= 0 and len(found) < _PLACES:
        found.append(content.count(b"\n", 0, place) + 1)
        place = content.find(old, place + len(old))
    return found


def _failed(cwd: str, why: str) -> Result:
    return Result(f"exit 1 | {cwd}", why, 1)
