"""Reads a user's reaction to a reply: content (+1), not content (-1), neither (0), and what the user says to do.

English only, by patterns of speech. Irony and praise of something else are beyond it; wording that no pattern knows
reads as neither.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from judges import phrases

_READ = 4_000  # characters: nobody's reaction is longer, and patterns must not be held up by what is pasted after it


class Reaction(NamedTuple):
    """A reading: the score is None where there is nothing to read."""

    score: float | None
    hint: str | None = None


def read_reaction(text: str, *, earlier: Sequence[str] = ()) -> Reaction:
    """Read the user's message `text`.

    Discontent outweighs thanks: "Thanks, but keep it short" asks for another reply.

    Args:
        earlier: what the user asked before; a repeat of it means that the reply did not answer it.

    >>> read_reaction("Thanks, but keep it short next time.")
    Reaction(score=-1.0, hint='keep it short next time.')
    """
    text = text.strip()[:_READ].replace("’", "'").replace("‘", "'")
    if not text:
        return Reaction(None)
    clauses = _clauses(text)
    hint = " ".join(spoken for clause in clauses if (spoken := _instruction(clause))) or None
    unhappy = any(phrases.COMPLAINT.search(clause) or phrases.REASK.search(clause) for clause in clauses)
    repeated = any(_repeats(text, question) for question in earlier)
    refused = any(phrases.REFUSAL.match(clause) for clause in clauses)
    if hint or unhappy or repeated or refused:
        return Reaction(-1.0, hint)
    said = [clause.partition(",")[0] if clause.endswith("?") else clause for clause in clauses]
    thanked = any(phrases.THANKS.search(clause) for clause in said if not clause.endswith("?"))
    return Reaction(1.0 if thanked else 0.0)


def _clauses(text: str) -> list[str]:
    """Sentences, cut at `but` and the like. Where a word problem follows, only the first is about the reply."""
    sentences = [part.strip() for part in re.split(r"(?<=[.!?…])[\"')]*\s+|\n+", text) if part.strip()]
    if phrases.PROBLEM.search(text):
        return sentences[:1]
    parts = [re.split(r"[,;]?\s+(?:but|though|although|however)\b,?\s*", sentence) for sentence in sentences]
    return [clause for part in parts for clause in part if clause]


def _instruction(clause: str) -> str | None:
    """The clause without its lead-in, where it says what the reply should have been."""
    spoken = phrases.INTERJECTION.sub("", clause).strip()
    if phrases.PROBLEM.search(clause):
        return None
    if phrases.CORRECTION.search(spoken) or phrases.ORDER.search(spoken):
        return spoken
    about_form = phrases.REQUEST.search(spoken) and phrases.FORM.search(spoken)
    other = phrases.REASK.search(spoken) or phrases.NEW_TASK.search(spoken)
    return spoken if about_form and not other else None


def _repeats(text: str, question: str) -> bool:
    """Whether nearly all words of a question of some length come again."""
    asked = set(re.findall(r"\w+", question.lower()))
    return len(asked) >= 4 and len(asked & set(re.findall(r"\w+", text.lower()))) >= 0.85 * len(asked)
