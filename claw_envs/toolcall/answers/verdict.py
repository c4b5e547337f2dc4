"""What a comparison says."""

from typing import NamedTuple


class Verdict(NamedTuple):
    """Whether an answer is the expected one."""

    correct: bool
    reason: str
    """In a few words."""
