"""The student: wants homework answers that read like a person's quick note (one plain sentence with the sum in it), and
says so only by its reactions.

Judges the look of a reply and its last number. It does not check the reasoning.
"""

from claw_envs.chat import looks
from claw_envs.chat.scripted import Opinion
from claw_envs.core.task import Task

LONGEST = 28
"""Words of a reply that still reads like a quick note."""

BRIEF = """You are a school student who copies answers onto a homework sheet. You want replies that read as if you had
jotted them down yourself: one or two short plain sentences with the quick sum in it (7 + 5 = 12), no walk-through of
steps, no lists, bold, headings or LaTeX. You never say this in your first message. If a reply gives a wrong number, say
so."""


def opinion(reply: str, task: Task) -> Opinion:
    """What the student thinks of `reply`; `task.metadata["answer"]` is the number in the answer key."""
    ending = looks.last_number(reply)
    machine_made = looks.has_markup(reply) or looks.walks_through(reply) or len(reply.split()) > LONGEST
    whole = not (looks.is_odd(reply) or looks.is_cut_off(reply)) and ending is not None
    return Opinion(
        style=whole and not machine_made and looks.shows_the_sum(reply), right=ending == task.metadata["answer"]
    )
