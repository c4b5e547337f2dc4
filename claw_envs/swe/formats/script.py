"""Evaluation scripts for instances that come without one, in the shape of SWE-bench's own.

A script puts the test files back to the base commit, applies the test patch, runs the tests between SWE-bench's two
markers, and puts the test files back again. Files that the test patch adds are not in the base commit: `git checkout`
does not name them. Unlike SWE-bench's scripts this one removes what the agent wrote in their place, as else the test
patch would not apply and the agent's own tests would decide; and it prints to stdout alone, so that results stay
between the markers.
"""

import re
import shlex
from collections.abc import Sequence

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.swe.instance import REPOSITORY, Instance

START = ">>>>> Start Test Output"
END = ">>>>> End Test Output"
"""SWE-bench's markers, which `set -x` echoes into the log."""

COMMIT = "git add -A && git -c user.name=claw -c user.email=claw@localhost commit -q --no-verify --allow-empty -m base"
"""Makes what lies in the repository its base commit."""
_HEADER = re.compile(r"diff --git a/(?P<old>.*) b/(?P<new>.*)")
_NEVER_TESTS = (".json", ".png", ".csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
"""Endings of what a test patch also touches and no test runner takes."""


class Tests(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[tests]` of a recipe: how to test instances whose rows do not say so."""

    command: str
    """Shell command; the test files of the test patch are appended."""
    log_parser: str = "parse_log_pytest"
    """A name of `swebench.harness.log_parsers.PARSER_REGISTRY`."""


def script_of(instance: Instance, command: str, *, before: Sequence[str] = (), files: bool = True) -> str:
    """A script that runs `command` on the test files of the instance's test patch.

    Args:
        command: shell command that prints a result a test.
        before: shell commands that come first, such as those that activate an environment.
        files: whether the test files are appended to the command.

    Raises:
        UserError: if the test patch changes no file.
    """
    changed = files_of(instance.test_patch)
    if not changed:
        raise UserError("its test patch changes no file, so there is no test to run")
    known = [old for old, _ in changed if old is not None]
    added = [new for old, new in changed if new is not None and new != old]
    runs = [new for _, new in changed if new is not None and not new.endswith(_NEVER_TESTS)]
    reset = [f"git checkout {instance.base_commit} {shlex.join(known)}"] if known else []
    lines = [
        "#!/bin/bash",
        "set -uxo pipefail",
        "exec 2>&1",  # an engine keeps no order between the two, and the markers go to stderr
        *before,
        f"cd {REPOSITORY}",
        *reset,
        *([f"rm -rf -- {shlex.join(added)}"] if added else []),
        f"git apply -v - {here_document(instance.test_patch)}",
        f": '{START}'",
        f"{command} {shlex.join(runs)}" if files and runs else command,
        f": '{END}'",
        *reset,
    ]
    return "\n".join(lines) + "\n"


def files_of(patch: str) -> list[tuple[str | None, str | None]]:
    """The files that a git patch changes, before and after: None before where it adds, None after where it deletes."""
    found: list[tuple[str | None, str | None]] = []
    for change in re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE):
        if header := _HEADER.match(change):
            about = change.partition("\n@@")[0]
            old = None if "\nnew file mode" in about else header["old"]
            new = None if "\ndeleted file mode" in about else header["new"]
            found.append((old, new))
    return found


def here_document(text: str) -> str:
    """`text` as what a shell command reads, character for character, with a newline at its end."""
    mark, lines = "EOF_PATCH", set(text.split("\n"))
    while mark in lines:
        mark += "_"
    newline = "" if text.endswith("\n") else "\n"
    return f"<<'{mark}'\n{text}{newline}{mark}"
