"""A commit as R2E-Gym's rows keep it (`parsed_commit_content`), in files, hunks and lines; and its patch again."""

from typing import Literal

import msgspec

_SIGNS = {"context": " ", "added": "+", "deleted": "-", "note": "\\ "}
_TEST_FOLDERS = {"tests", "Tests", "test", "Test"}


class _Range(msgspec.Struct):
    start: int
    length: int | None = None

    def __str__(self) -> str:
        return f"{self.start}" if self.length is None else f"{self.start},{self.length}"


class _Descriptor(msgspec.Struct):
    old_range: _Range
    new_range: _Range
    section: str = ""


class _Line(msgspec.Struct):
    content: str
    type: Literal["context", "added", "deleted", "note"]


class _Lines(msgspec.Struct):
    all_lines: list[_Line] = []


class _Hunk(msgspec.Struct):
    descriptor: _Descriptor
    line_group: _Lines

    def __str__(self) -> str:
        about = self.descriptor
        section = f" {about.section}" if about.section else ""
        lines = "".join(f"{_SIGNS[line.type]}{line.content}\n" for line in self.line_group.all_lines)
        return f"@@ -{about.old_range} +{about.new_range} @@{section}\n{lines}"


class _Path(msgspec.Struct):
    path: str


class _Header(msgspec.Struct):
    file: _Path
    misc_line: str | None = None
    """Such as `new file mode 100644`."""


class _FileDiff(msgspec.Struct):
    header: _Header
    is_binary_file: bool = False
    minus_file: _Path | None = None
    plus_file: _Path | None = None
    hunks: list[_Hunk] = []

    def is_test(self) -> bool:
        """By R2E-Gym's own rule."""
        *folders, name = self.header.file.path.split("/")
        return name.startswith("test_") or name.endswith("_test.py") or not _TEST_FOLDERS.isdisjoint([*folders, name])

    def patch(self) -> str:
        name = self.header.file.path
        lines = [f"diff --git a/{name} b/{name}"]
        if self.header.misc_line:
            lines.append(self.header.misc_line)
        if self.minus_file and self.plus_file:
            lines += [f"--- {self.minus_file.path}", f"+++ {self.plus_file.path}"]
        return "\n".join(lines) + "\n" + "".join(map(str, self.hunks))


class Commit(msgspec.Struct):
    """The commit that closes the issue; what else is kept of it is not read."""

    file_diffs: list[_FileDiff]

    def patch(self, *, tests: bool) -> str:
        """The patch of its test files, or of all others; binary files, of which nothing is kept, are left out."""
        return "".join(diff.patch() for diff in self.file_diffs if diff.is_test() == tests and not diff.is_binary_file)
