"""What the scripted users say, by persona and kind of reaction: read from `tasks/chat/phrases.json`, data only."""

from functools import cache

import msgspec

from claw_envs.core.tasksets import builtin


class Sayings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One persona's wordings. `{question}`, `{answer}` and `{name}` stand for the task's own."""

    thanks: list[str]
    """Content."""
    reask: list[str]
    """The question again."""
    vague: list[str]
    """Not content, without saying why."""
    correction: list[str]
    """Not content, and says what the reply should have been."""
    wrong: list[str]
    """The right number, said after a correction where the reply's was wrong."""
    unrelated: list[str]
    """A change of subject, which says nothing about the reply."""


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    student: Sayings
    teacher: Sayings
    names: list[str]


@cache
def phrases() -> Phrases:
    """The built-in phrases."""
    return msgspec.json.decode((builtin("chat") / "phrases.json").read_bytes(), type=Phrases)
