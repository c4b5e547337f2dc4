"""Reads a tool's result or a message of the environment: did the action do what it was meant to (+1) or not (-1)?"""

import re
from itertools import dropwhile

from claw_envs.core.episode import Observation

_SEARCHES = frozenset(
    ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "diff", "cmp", "test", "[", "[[", "pgrep", "which", "type", "expr")
)
"""Commands whose exit code 1 is an answer ("no match", "they differ"), not a fault."""
_SIGPIPE = 141  # the reader of a pipe had enough, as in `yes | head`
_TEST_RUNNERS = frozenset(("pytest", "py.test", "nosetests", "tox", "nox", "runtests.py", "unittest", "nose", "trial"))
"""Programs and Python modules whose exit code 1 says that tests ran and some failed."""
_PYTHON = re.compile(r"python[\d.]*")
_NO_RUNNER = re.compile(r"^\S*python[\d.]*: (?:No module named|can't open file)", re.MULTILINE)
_WRAPPERS = re.compile(r"^(?:\s*(?:sudo|time|timeout\s+\S+|command|!|then|do|else|\w+=\S*)\s+)+")
_COMMAND_BREAK = re.compile(r"&&|\|\||[;|\n]")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_FAULT = re.compile(
    r"^(?:\[[^\]\n]*\]\s*)?(?:\w*error\b|\w*exception\b|traceback \(most recent call last\)|fatal:)"
    r"|\b(?:no such file|command not found|permission denied|invalid option|usage:)"
    r"|^\[[^\]\n]*(?:stopped after|timed out)",
    re.IGNORECASE | re.MULTILINE,
)
_REJECTED = re.compile(
    r"\b(?:not run|malformed|not valid|invalid|could not (?:be )?(?:read|parsed?)|was (?:empty|not closed)|must be"
    r"|there (?:was|were|is|are) (?:no|\d+)|unknown|expected|format error)\b",
    re.IGNORECASE,
)


def read_result(observation: Observation, command: str) -> float | None:
    """+1.0, -1.0, or None where the observation says nothing of the action.

    Tests that ran and failed say nothing: they may be what was to be shown, or what was to be mended.

    Args:
        observation: of role `tool` or `environment`.
        command: the shell command that ran, where there was one; only asked to explain exit code 1.
    """
    code = observation.exit_code
    if code is not None:
        words = _last_command(command) if code == 1 else []
        if _runs_tests(words) and not _NO_RUNNER.search(observation.text):
            return None
        found_nothing = bool(words) and words[0] in _SEARCHES and not _FAULT.search(observation.text)
        return 1.0 if code in (0, _SIGPIPE) or found_nothing else -1.0
    if observation.role == "environment":
        return -1.0 if _REJECTED.search(observation.text) else None
    return -1.0 if _FAULT.search(observation.text) else None


def _last_command(command: str) -> list[str]:
    """The words of the program whose exit code the shell reports, its name without folders; of `git` the subcommand."""
    bare = _COMMENT.sub("", _QUOTED.sub("_", command).replace("\\\n", " "))
    parts = [part for part in _COMMAND_BREAK.split(bare) if part.strip()]
    words = _WRAPPERS.sub("", parts[-1] + " ").split() if parts else []
    if words[:1] == ["git"]:
        words = words[1:]
    return [words[0].rpartition("/")[2], *words[1:]] if words else []


def _runs_tests(words: list[str]) -> bool:
    """Whether the command is a test runner: `pytest …`, `python -m unittest …`, `python tests/runtests.py …`."""
    if not words or not _PYTHON.fullmatch(words[0]):
        return bool(words) and words[0] in _TEST_RUNNERS
    what = list(dropwhile(lambda word: word != "-m" and not word.endswith(".py"), words))
    name = (what[1] if what[:1] == ["-m"] and what[1:] else "".join(what[:1])).rpartition("/")[2]
    return name in _TEST_RUNNERS or (name == "manage.py" and what[1:2] == ["test"])
