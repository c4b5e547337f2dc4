"""The teacher: wants specific, warm comments on a student's work, and says so only by its reactions.

Judges whether a comment names what this student did and says something kind. It does not check what the comment claims.
"""

import re

from claw_envs.chat import looks
from claw_envs.chat.scripted import Opinion
from claw_envs.core.task import Task

FEWEST, MOST = 8, 70
"""Words of a comment that is neither curt nor a lecture."""

BRIEF = """You are a teacher who writes comments under students' work. You want comments that are specific (they mention
what this student did) and warm (friendly, encouraging), in a few sentences to the student. You never say this in your
first message."""

_WARM = re.compile(
    r"\b(?:great|good|nice|lovely|well done|wonderful|excellent|proud|love|super|fantastic|keep (?:it up|going)"
    r"|so close|almost there|you can do|you've got|awesome|bravo|impressive|brilliant|happy)\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[a-z]{4,}|\d+(?:\.\d+)?")
_EMPTY_WORDS = "that this they them have with from were what when then many much does will your there each"
_EMPTY = frozenset(_EMPTY_WORDS.split())


def opinion(reply: str, task: Task) -> Opinion:
    """What the teacher thinks of `reply`; the task's metadata hold the student's `question` and `work`."""
    if looks.is_odd(reply) or looks.is_cut_off(reply) or looks.has_markup(reply):
        return Opinion(style=False)
    fit = FEWEST <= len(reply.split()) <= MOST
    return Opinion(style=fit and _WARM.search(reply) is not None and len(_named(reply, task)) >= 2)


def _named(reply: str, task: Task) -> set[str]:
    """Words and numbers of this student's problem and work that the comment takes up."""
    theirs = _WORDS.findall(f"{task.metadata['question']} {task.metadata['work']}".lower())
    return (set(theirs) - _EMPTY) & set(_WORDS.findall(reply.lower()))
