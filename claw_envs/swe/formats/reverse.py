"""Turns a text patch of git's round, so that it undoes what it did. Not covered: binary files, copies."""

import io
import re
from collections.abc import Iterator

from claw_envs.core.errors import UserError

_HUNK = re.compile(
    r"@@ -(?P<old>\d+(?:,(?P<removed>\d+))?) \+(?P<new>\d+(?:,(?P<added>\d+))?) @@(?P<rest>.*)", re.DOTALL
)
_SIGNS = str.maketrans("+-", "-+")
_HEADERS = (
    (re.compile(r"diff --git a/(.*) b/(.*)\n"), r"diff --git a/\2 b/\1\n"),
    (re.compile(r"index (\w+)\.\.(\w+)(.*)\n"), r"index \2..\1\3\n"),
    (re.compile(r"new file mode (.*)\n"), r"deleted file mode \1\n"),
    (re.compile(r"deleted file mode (.*)\n"), r"new file mode \1\n"),
    (re.compile(r"old mode (.*)\nnew mode (.*)\n"), r"old mode \2\nnew mode \1\n"),
    (re.compile(r"rename from (.*)\nrename to (.*)\n"), r"rename from \2\nrename to \1\n"),
    (re.compile(r"--- a/(.*)\n\+\+\+ b/(.*)\n"), r"--- a/\2\n+++ b/\1\n"),
    (re.compile(r"--- /dev/null\n\+\+\+ b/(.*)\n"), r"--- a/\1\n+++ /dev/null\n"),
    (re.compile(r"--- a/(.*)\n\+\+\+ /dev/null\n"), r"--- /dev/null\n+++ b/\1\n"),
)
"""What stands before the hunks of a file, and what it becomes; each is whole lines."""


def reversed_patch(patch: str) -> str:
    """The patch that undoes `patch`.

    Raises:
        UserError: if it changes a binary file, copies a file, or has a hunk that is cut short.
    """
    return "".join(_turned(list(io.StringIO(patch, newline="\n"))))


def _turned(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if hunk := _HUNK.fullmatch(lines[at]):
            end = _end(lines, at + 1, int(hunk["removed"] or 1), int(hunk["added"] or 1))
            yield f"@@ -{hunk['new']} +{hunk['old']} @@{hunk['rest']}"
            yield from (line[:1].translate(_SIGNS) + line[1:] for line in lines[at + 1 : end])
            at = end
        elif lines[at].startswith(("GIT binary patch", "Binary files ")):
            raise UserError("the patch changes a binary file, which cannot be turned round")
        elif lines[at].startswith("copy from "):
            raise UserError("the patch copies a file, which cannot be turned round")
        else:
            taken, line = _header(lines[at : at + 2])
            yield line
            at += taken


def _header(lines: list[str]) -> tuple[int, str]:
    """How many lines a header takes, and what it becomes."""
    for count in (2, 1):
        text = "".join(lines[:count])
        for before, after in _HEADERS:
            if found := before.fullmatch(text):
                return count, found.expand(after)
    return 1, lines[0]


def _end(lines: list[str], at: int, removed: int, added: int) -> int:
    """The index after the hunk whose lines begin at `at`."""
    while at < len(lines) and (removed or added or lines[at].startswith("\\")):
        removed -= lines[at][0] in " -\n"
        added -= lines[at][0] in " +\n"
        at += 1
    if removed or added:
        raise UserError("the patch has a hunk that is cut short")
    return at
