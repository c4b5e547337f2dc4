"""What a Google-style docstring says of a function and its parameters. Other styles are read as plain description."""

import itertools
import re
from typing import NamedTuple

_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Returns|Return|Yields|Raises|Examples?|Notes?|Warnings?|Warns|Attributes|See Also"
    r"|References|Todo):\s*"
)
_PARAMETER = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\([^)]*\))?:\s*(?P<text>.*)")


class Docstring(NamedTuple):
    """What is said."""

    description: str
    """All before the first section, a line for each paragraph."""
    parameters: dict[str, str]
    """Name -> what is said of it, in one line."""


def read_docstring(text: str) -> Docstring:
    """Read a docstring without its common indentation, as `inspect.getdoc` gives it.

    >>> read_docstring("Add numbers.\\n\\nArgs:\\n    a: the first.\\n    b: the second,\\n        if any.")
    Docstring(description='Add numbers.', parameters={'a': 'the first.', 'b': 'the second, if any.'})
    """
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if _SECTION.fullmatch(line)]
    before = "\n".join(lines[: starts[0]] if starts else lines)
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", before)]
    parameters: dict[str, str] = {}
    for start, end in itertools.pairwise([*starts, len(lines)]):
        if lines[start].startswith(("Args", "Arguments", "Parameters")):
            parameters |= _entries(lines[start + 1 : end])
    return Docstring("\n".join(filter(None, paragraphs)), parameters)


def _entries(lines: list[str]) -> dict[str, str]:
    """The entries of an `Args` section; a line that is indented deeper than the first continues the entry before it."""
    filled = [line for line in lines if line.strip()]
    indent = len(filled[0]) - len(filled[0].lstrip()) if filled else 0
    entries: dict[str, str] = {}
    name = None
    for line in filled:
        entry = _PARAMETER.fullmatch(line.strip()) if len(line) - len(line.lstrip()) <= indent else None
        if entry:
            name = entry["name"]
            entries[name] = entry["text"]
        elif name is not None:
            entries[name] = f"{entries[name]} {line.strip()}".strip()
    return entries
