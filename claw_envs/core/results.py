"""How what the calls of one message did becomes the observation: a header line each, then the text.

A text that imitates a header misleads nobody who counts: the observation begins with the real one, and the answer to an
OpenAI call holds one call's text only.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from claw_envs.core.episode import Answer, Observation


class Result(NamedTuple):
    """What one call did."""

    head: str
    text: str
    exit_code: int | None = None
    ran: bool = True
    """False where nothing was run, and the environment itself answers."""


def not_run(why: str) -> Result:
    """A call that was not carried out."""
    return Result("not run", why, ran=False)


class Asked(NamedTuple):
    """What a result answers."""

    name: str
    """Of the tool; shown where there are several calls."""
    id: str | None = None
    """Of the OpenAI call, where it is one."""


def shown(
    asked: Sequence[Asked], results: Sequence[Result], *, role: Literal["tool", "environment"], answers: bool
) -> Observation:
    """What the agent is shown after a message, one result a call.

    Args:
        asked: the calls, in the order of their results.
        role: who speaks.
        answers: whether each call gets an answer of its own.
    """
    ran = [result for result in results if result.ran]
    texts = [_with_header(result.head, result.text) for result in results]
    replies = [Answer(call.id or "", text) for call, text in zip(asked, texts, strict=True)] if answers else []
    if len(results) > 1:
        heads = [f"{i}/{len(asked)} {call.name}" for i, call in enumerate(asked, 1)]
        texts = [
            _with_header(f"{head} | {result.head}", result.text) for head, result in zip(heads, results, strict=True)
        ]
    return Observation(role=role, text="\n".join(texts), exit_code=ran[-1].exit_code if ran else None, answers=replies)


def _with_header(head: str, text: str) -> str:
    return f"[{head}]\n{text}".rstrip("\n")


def with_text(seen: Observation, text: str) -> Observation:
    """`seen` with more text at its end, in the last of its answers too."""
    if not text:
        return seen
    answers = list(seen.answers)
    if answers:
        answers[-1] = msgspec.structs.replace(answers[-1], text=f"{answers[-1].text}\n{text}")
    return msgspec.structs.replace(seen, text=f"{seen.text}\n{text}", answers=answers)
