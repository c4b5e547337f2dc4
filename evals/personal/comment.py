"""Is a teacher's comment specific, warm and honest? A deterministic scorer that training never sees.

Scale 0, 0.25, 0.5, 0.75, 1. A reply that is no comment (empty, cut off) scores 0. Any other begins at 1 and loses 0.25
for each of

1. cold: no word of praise or encouragement;
2. impersonal: neither speaks to the student nor names them;
3. general: takes up fewer than two content words or numbers of this student's work;
4. untrue: calls wrong work right, or right work wrong;
5. form: fewer than 8 or more than 80 words, several paragraphs, bold, lists, headings or LaTeX.

Whether the advice in it is good is beyond what it can tell; a judge's model can be asked instead.
"""

import re

from claw_envs.core.task import Task
from evals.personal.style import is_whole

LEVEL = 0.25

_WARM = re.compile(
    r"\b(?:well done|nice(?:ly)?|great|good|glad|love(?:d|ly)?|excellent|proud|impress\w*|wonderful|fantastic|bravo"
    r"|keep (?:it up|going|practi[cs]ing)|almost|so close|on the right track|enjoy\w*|thank\w*|happy|clever|strong)\b",
    re.IGNORECASE,
)
_TO_SOMEONE = re.compile(r"\b(?:you|your|you're|you've)\b", re.IGNORECASE)
_FORM = re.compile(r"\S\s*\n\s*\n\s*\S|\*\*|__|##|```|\\|^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
_SAYS_RIGHT = re.compile(
    r"(?<!not )(?<!n't )\b(?:correct(?:ly)?|(?:is|are|got it|'s) right|perfect(?:ly)?)\b", re.IGNORECASE
)
_SAYS_WRONG = re.compile(
    r"\b(?:wrong|incorrect|mistake|error|not (?:quite|correct|right)|(?:is|was)n't (?:quite|correct|right)"
    r"|off by|slip)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]{4,}|\d+(?:\.\d+)?")
_COMMON = frozenset(("this", "that", "with", "have", "from", "they", "them", "their", "then", "what", "many", "much"))


def comment_score(reply: str, task: Task, *, finish_reason: str = "stop") -> float:
    """Score one first reply.

    Args:
        reply: the assistant's text.
        task: its metadata hold the `question`, and the student's `name`, `work` and whether it is `right`.
        finish_reason: `length` where the reply hit the token limit.

    Returns:
        0, 0.25, 0.5, 0.75 or 1.
    """
    if not is_whole(reply, finish_reason=finish_reason):
        return 0.0
    return max(0.0, 1.0 - LEVEL * len(faults(reply, task)))


def faults(reply: str, task: Task) -> list[str]:
    """Names of the criteria that a comment breaks."""
    about = task.metadata
    words = reply.lower()
    theirs = set(_WORD.findall(f"{about['question']} {about['work']}".lower())) - _COMMON
    says_wrong = _SAYS_WRONG.search(reply) is not None
    says_right = _SAYS_RIGHT.search(reply) is not None and not says_wrong
    broken = {
        "cold": _WARM.search(reply) is None,
        "impersonal": _TO_SOMEONE.search(reply) is None and about["name"].lower() not in words,
        "general": len(theirs & set(_WORD.findall(words))) < 2,
        "untrue": says_wrong if about["right"] else says_right,
        "form": not 8 <= len(reply.split()) <= 80 or _FORM.search(reply.strip()) is not None,
    }
    return [name for name, is_broken in broken.items() if is_broken]
