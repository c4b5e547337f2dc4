"""Reads a tool's result or a message of the environment: did the action do what it was meant to (+1) or not (-1)?"""

import re

from claw_envs.core.episode import Observation

_SEARCHES = frozenset(
    ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "diff", "cmp", "test", "[", "[[", "pgrep", "which", "type", "expr")
)
"""Commands whose exit code 1 is an answer ("no match", "they differ"), not a fault."""
_SIGPIPE = 141  # the reader of a pipe had enough, as in `yes | head`
_WRAPPERS = re.compile(r"^(?:\s*(?:sudo|time|command|!|then|do|else|\w+=\S*)\s+)+")
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

    Args:
        observation: of role `tool` or `environment`.
        command: the shell command that ran, where there was one; only asked to explain exit code 1.
    """
    code = observation.exit_code
    if code is not None:
        found_nothing = code == 1 and _last_command(command) in _SEARCHES and not _FAULT.search(observation.text)
        return 1.0 if code in (0, _SIGPIPE) or found_nothing else -1.0
    if observation.role == "environment":
        return -1.0 if _REJECTED.search(observation.text) else None
    return -1.0 if _FAULT.search(observation.text) else None


def command_of(response: str, arguments: list[str]) -> str:
    """The shell command in an agent's message: its last call's arguments, its last fenced block, or all of it."""
    if arguments:
        return arguments[-1]
    blocks = re.findall(r"^ {0,3}```[^\n]*\n(.*?)^ {0,3}```", response, re.DOTALL | re.MULTILINE)
    return blocks[-1] if blocks else response


def _last_command(command: str) -> str:
    """Name of the program whose exit code the shell reports."""
    bare = _COMMENT.sub("", _QUOTED.sub("_", command).replace("\\\n", " "))
    parts = [part for part in _COMMAND_BREAK.split(bare) if part.strip()]
    words = _WRAPPERS.sub("", parts[-1] + " ").split() if parts else []
    if words[:1] == ["git"]:
        words = words[1:]
    return words[0].rpartition("/")[2] if words else ""
